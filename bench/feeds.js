// Measures what keeping feeds fresh costs the operator: CPU time and memory, by the number of keys and of members.

import { loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { readArguments } from "@dataset-oracle/tools/arguments";
import { Processes } from "./processes.js";

const HEARTBEAT_SECONDS = 60;
/** An older feed means that the work was not done. */
const MAX_AGE_SECONDS = HEARTBEAT_SECONDS + 10;
/** With the most keys and members. */
const MAX_CORES = 0.25;
const MAX_MEGABYTES = 300;
const CASES = [4, 31].flatMap((members) => [10, 100, 1_000].map((keys) => ({ keys, members })));
const LARGEST = CASES.at(-1);
const SAMPLE_MS = 5_000;
/** How long storing all keys for the first time may take, each in a transaction of its own. */
const FIRST_MS = 600_000;
/** How long an operator has run when it is measured: each key has been updated by then. */
const WARM_UP_MS = HEARTBEAT_SECONDS * 1_000;

const USAGE = `Usage: npm run bench:feeds [-- --seconds N --only KEYSxMEMBERS]

Has an operator keep 10, 100 and 1,000 keys fresh, with committees of 4 and 31 members: the heartbeat is ${HEARTBEAT_SECONDS} s, and
the deviation is checked at every poll. The chain is real, and one process stands in for all providers. It prints the
operator's CPU time as a share of one core, and the most memory that it used. It exits with 1 if ${LARGEST.keys} keys with
${LARGEST.members} members take more than ${MAX_CORES} of a core or ${MAX_MEGABYTES} MB, or if a feed grows older than ${MAX_AGE_SECONDS} s.

  --seconds N           how long each case is measured, in seconds, from 10 (default: 120)
  --only KEYSxMEMBERS   one case: ${CASES.map(nameOf).join(", ")}
  --help                show this text

Examples
  npm run bench:feeds
  npm run bench:feeds -- --only 1000x31 --seconds 300`;

const { values } = readArguments(USAGE, {
  seconds: { type: "string", default: "120", range: [10, 3_600] },
  only: { type: "string" },
});
const cases = CASES.filter((one) => values.only === undefined || values.only === nameOf(one));
if (cases.length === 0) {
  console.error(`There is no case ${values.only}. Choose one that --only lists.\n\n${USAGE}`);
  process.exit(2);
}

let running = new Processes();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => running.close().finally(() => process.exit(1)));
console.log(`The machine's load was ${loadavg()[0].toFixed(1)} before.\n`);
console.log("| keys | members | share of a core | memory, MB | oldest feed, s |\n|---|---|---|---|---|");
for (const one of cases) {
  running = new Processes();
  try {
    const { cores, megabytes, oldest } = await measure(running, one);
    console.log(
      `| ${one.keys} | ${one.members} | ${cores.toFixed(3)} | ${megabytes.toFixed(0)} | ${oldest.toFixed(1)} |`,
    );
    if (one === LARGEST && cores > MAX_CORES) miss(`${nameOf(one)} takes more than ${MAX_CORES} of a core.`);
    if (one === LARGEST && megabytes > MAX_MEGABYTES) miss(`${nameOf(one)} takes more than ${MAX_MEGABYTES} MB.`);
    if (oldest > MAX_AGE_SECONDS) miss(`${nameOf(one)}: a feed grew older than ${MAX_AGE_SECONDS} s.`);
  } finally {
    await running.close();
  }
}

function nameOf({ keys, members }) {
  return `${keys}x${members}`;
}

function miss(sentence) {
  console.error(sentence);
  process.exitCode = 1;
}

/** Starts everything for one case, has all keys stored, and then measures another operator that keeps them fresh. */
async function measure(processes, { keys: count, members }) {
  const network = await processes.startStubbedNetwork({ keys: count, members });
  const { dataset, keys } = network;
  const feeds = [{ dataset, keys, heartbeatSeconds: HEARTBEAT_SECONDS, deviationBps: 50, minIntervalSeconds: 1 }];
  const start = (settings) => processes.startOperator(network, { senders: [1], network: { feeds, ...settings } });

  const first = await start({ feedPollMs: 1_000 });
  const giveUpAt = Date.now() + FIRST_MS;
  while ((await readMetrics(first)).ages.length < count) {
    if (Date.now() > giveUpAt) throw new Error(`${nameOf({ keys: count, members })}: the keys are not stored.`);
    await sleep(1_000);
  }
  await first.close();

  const operator = await start({});
  await sleep(WARM_UP_MS);
  const [before, from] = [await readMetrics(operator), performance.now()];
  const all = [before];
  while (performance.now() - from < Number(values.seconds) * 1_000) {
    await sleep(SAMPLE_MS);
    all.push(await readMetrics(operator));
  }
  return {
    cores: (all.at(-1).cpuSeconds - before.cpuSeconds) / ((performance.now() - from) / 1_000),
    megabytes: Math.max(...all.map(({ bytes }) => bytes)) / 1e6,
    oldest: Math.max(...all.flatMap(({ ages }) => ages)),
  };
}

/** Reads what an operator says of itself: CPU seconds since its start, resident bytes, and the ages of its feeds. */
async function readMetrics({ metricsUrl }) {
  const text = await (await fetch(metricsUrl)).text();
  const all = (name) =>
    [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, "gm"))].map(([, value]) => +value);
  const [[cpuSeconds], [bytes]] = [all("process_cpu_seconds_total"), all("process_resident_memory_bytes")];
  return { cpuSeconds, bytes, ages: all("operator_feed_age_seconds") };
}
