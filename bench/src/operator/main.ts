// Measures the operator's speed. Each benchmark compares the operator with a baseline in the same run, which makes it
// independent of the machine's speed, and fails if its median misses its bound.

import { loadavg } from "node:os";
import { readArguments } from "@dataset-oracle/tools/arguments";
import { dataRequestBody } from "../data-request-body.js";
import { postJson } from "../http-client.js";
import { type Environment, Processes } from "../processes.js";
import { upperMedian } from "../upper-median.js";
import { BENCHMARKS, type Benchmark, isWithin } from "./benchmarks.js";

const USAGE = `Usage: npm run bench:operator [-- --rounds N --only NAME]

Measures the operator's speed on this machine, with a chain, four providers and a simulated market, each in its own
process: CPU time per request, transactions per second, added latency. Each benchmark compares the operator with a
baseline in the same round. It exits with 1 if a median misses its bound, and takes several minutes.

  --rounds N    the number of rounds, from 1 (default: 5)
  --only NAME   one benchmark: ${BENCHMARKS.map(({ name }) => name).join(", ")}
  --help        show this text

Examples
  npm run bench:operator
  npm run bench:operator -- --only latency --rounds 9`;

const KEYS = 1_000;
/** Warm-up rounds, which do not count: the JIT compiler is still at work in the first ones. */
const WARM_UP = 6;

const { values } = readArguments(USAGE, {
  rounds: { type: "string", default: "5", range: [1, 99] },
  only: { type: "string" },
});
const benchmarks = BENCHMARKS.filter(({ name }) => values.only === undefined || values.only === name);
if (benchmarks.length === 0) {
  console.error(`There is no benchmark ${values.only}. Choose one that --only lists.\n\n${USAGE}`);
  process.exit(2);
}

const processes = new Processes();
try {
  say("Starting a chain, a market, four providers and the operator");
  const environment = await processes.start(KEYS);
  const fixedAnswer = await processes.startFixedAnswerServer(await anyAnswer(environment));
  for (const { prepare } of benchmarks) await prepare?.(environment);

  const measured = new Map<Benchmark, number[]>(benchmarks.map((benchmark) => [benchmark, []]));
  const [load = 0] = loadavg();
  for (let round = 1 - WARM_UP; round <= Number(values.rounds); round++) {
    for (const benchmark of benchmarks) {
      const { ratio, note } = await benchmark.measure(environment, fixedAnswer);
      if (round > 0) measured.get(benchmark)?.push(ratio);
      say(`${round > 0 ? `round ${round}` : "warm-up"}, ${benchmark.name}: ${ratio.toFixed(3)} (${note})`);
    }
  }
  report(measured, load);
} finally {
  await processes.close();
}

function anyAnswer(environment: Environment): Promise<object> {
  return postJson(environment.operator.requestUrl, dataRequestBody(environment, environment.keys[0] as string));
}

function report(measured: ReadonlyMap<Benchmark, number[]>, load: number) {
  console.log(
    `Median, minimum and maximum of ${values.rounds} rounds. The operator runs with its limits, logs and metrics, but ` +
      `the limits are too high to reject anything. The machine's load was ${load.toFixed(1)} before and ` +
      `${loadavg()[0]?.toFixed(1)} after.\n`,
  );
  console.log("| benchmark | bound | median | minimum | maximum |\n|---|---|---|---|---|");
  for (const [benchmark, ratios] of measured) {
    const { title, bound, isCost } = benchmark;
    const side = isCost ? "at most" : "at least";
    const cells = [upperMedian(ratios), Math.min(...ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(3));
    console.log(`| ${title} | ${side} ${+bound.toFixed(3)} | ${cells.join(" | ")} |`);
  }
  const missed = [...measured].filter(([benchmark, ratios]) => !isWithin(benchmark, upperMedian(ratios)));
  if (missed.length === 0) return;
  console.error(`\nThese benchmarks miss their bounds: ${missed.map(([{ name }]) => name).join(", ")}.`);
  process.exitCode = 1;
}

function say(text: string) {
  console.error(text);
}
