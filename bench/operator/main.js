// Prints how fast the operator is, in figures that each compare two sides in the same run, and fails when one of them is
// not what it must be.

import { loadavg } from "node:os";
import { readCommand } from "@dataset-oracle/tools/command";
import { request } from "./cpu.js";
import { FIGURES, isWithin } from "./figures.js";
import { median, postJson } from "./load.js";
import { Stage } from "./stage.js";

const USAGE = `Usage: npm run bench:operator [-- --rounds N --only NAME]

Measures the operator's speed on a chain, four providers and a simulated market of its own, each in its own process, on
this machine alone: CPU time a request, transactions a second, added latency. Every figure is a comparison within the
same round; it ends with 1 when the median of one is not what it must be. It takes several minutes.

  --rounds N    how often each figure is measured, from 1 (default: 5)
  --only NAME   one figure: ${FIGURES.map(({ name }) => name).join(", ")}
  --help        this text

Examples
  npm run bench:operator
  npm run bench:operator -- --only latency --rounds 9`;

const KEYS = 1_000;
/** Rounds that warm the code up, and are not counted. */
const WARM_UP = 3;

const { values } = readCommand(USAGE, {
  rounds: { type: "string", default: "5", range: [1, 99] },
  only: { type: "string" },
});
const figures = FIGURES.filter(({ name }) => values.only === undefined || values.only === name);
if (figures.length === 0) {
  console.error(`--only ${values.only}: there is no such figure.\n\n${USAGE}`);
  process.exit(2);
}

const all = new Stage();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => all.close().finally(() => process.exit(1)));
try {
  say("Starting a chain, a market, four providers and the operator");
  const stage = await all.start(KEYS);
  const bare = await all.startBare(await anyAnswer(stage));
  for (const { prepare } of figures) await prepare?.(stage);

  const measured = new Map(figures.map((figure) => [figure, []]));
  const load = loadavg()[0];
  for (let round = 1 - WARM_UP; round <= Number(values.rounds); round++) {
    for (const figure of figures) {
      const { ratio, note } = await figure.measure(stage, bare);
      if (round > 0) measured.get(figure).push(ratio);
      say(`${round > 0 ? `round ${round}` : "warm-up"}, ${figure.name}: ${ratio.toFixed(3)}${figure.unit} (${note})`);
    }
  }
  report(measured, load);
} finally {
  await all.close();
}

function anyAnswer(stage) {
  return postJson(stage.operator.requestUrl, request(stage, stage.keys[0]));
}

function report(measured, load) {
  console.log(
    `Medians of ${values.rounds} rounds, the least and the most. The operator has its limits, logs and metrics; the ` +
      `limits are so wide that no caller here is refused. The machine's load was ${load.toFixed(1)} before and ` +
      `${loadavg()[0].toFixed(1)} after.\n`,
  );
  console.log("| figure | must | stretch | median | least | most |\n|---|---|---|---|---|---|");
  for (const [figure, ratios] of measured) {
    const { title, unit, must, stretch, isCost } = figure;
    const bound = isCost ? "at most" : "at least";
    const cells = [median(ratios), Math.min(...ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(3) + unit);
    const [mustText, stretchText] = [must, stretch].map((limit) => `${bound} ${+limit.toFixed(3)}${unit}`);
    console.log(`| ${title} | ${mustText} | ${stretchText} | ${cells.join(" | ")} |`);
  }
  const missed = [...measured].filter(([figure, ratios]) => !isWithin(figure, figure.must, median(ratios)));
  if (missed.length === 0) return;
  console.error(`\nNot what it must be: ${missed.map(([{ name }]) => name).join(", ")}.`);
  process.exitCode = 1;
}

function say(text) {
  console.error(text);
}
