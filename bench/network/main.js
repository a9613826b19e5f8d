// Measures a network of nodes: a simulated one, for sizes and faults for which one machine is too small, and four real
// nodes, compared with one operator.

import { readArguments } from "@dataset-oracle/tools/arguments";
import { compareNodesWithOneOperator } from "./nodes-versus-one-operator.js";
import { simulateScenarios } from "./simulate-scenarios.js";

const USAGE = `Usage: npm run bench:network [-- --only PART --rounds N --seed N --seconds N --check]

Two parts. \`simulation\` simulates rounds of networks of 4, 13 and 31 nodes on chains with a block every 1, 2 and 12
seconds, and prints how many transactions are mined per round and how long after its beat a round is stored. \`nodes\`
starts a chain, a market and four providers, each in its own process, has one operator and then four nodes keep the same
feeds fresh and serve broadcasts, and prints updates per second, transactions per round and CPU time per update. Both
parts together take about seven minutes.

  --only PART   one part: simulation, nodes
  --rounds N    the number of simulated rounds of each figure, from 100 (default: 2000)
  --seed N      the seed of the simulation's random numbers (default: 1)
  --seconds N   how long the real feeds are measured, in seconds, from 10 (default: 60)
  --check       exit with 1 if a figure misses its bound
  --help        show this text

Examples
  npm run bench:network
  npm run bench:network -- --only simulation --rounds 6000 --seed 2
  npm run bench:network -- --only nodes --check`;

const { values } = readArguments(USAGE, {
  only: { type: "string" },
  rounds: { type: "string", default: "2000", range: [100, 1_000_000] },
  seed: { type: "string", default: "1", range: [0, 1_000_000] },
  seconds: { type: "string", default: "60", range: [10, 3_600] },
  check: { type: "boolean", default: false },
});

const parts = {
  simulation: () => simulateScenarios({ rounds: Number(values.rounds), seed: Number(values.seed) }),
  nodes: () => compareNodesWithOneOperator({ seconds: Number(values.seconds) }),
};
if (values.only !== undefined && !Object.hasOwn(parts, values.only)) {
  console.error(`There is no part ${values.only}. Name one of: ${Object.keys(parts).join(", ")}.\n\n${USAGE}`);
  process.exit(2);
}
const missed = [];
for (const [name, run] of Object.entries(parts)) {
  if (values.only === undefined || values.only === name) missed.push(...(await run()));
}
for (const sentence of missed) console.error(sentence);
if (values.check && missed.length > 0) process.exitCode = 1;
