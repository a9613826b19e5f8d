// Simulates networks of operators that do not talk to each other, in virtual time. When each of them gathers and sends is
// decided by the operator's own schedule (operator/src/schedule), beside what MODEL says. `npm run simulate` runs the rest of
// the operator as well, but takes seconds for an episode of 31 members, of which each figure here needs thousands.

import { readArguments } from "@dataset-oracle/tools/arguments";
import { type Faults, MODEL } from "./model.js";
import { SeededRandom } from "./random.js";
import { HELD_TURNS, simulateHeldTurns } from "./simulate-held-turns.js";
import { type Figure, simulateRow } from "./simulate-row.js";

const BLOCK_SECONDS = [1, 2, 12] as const;

type ByBlockTime = readonly [number, number, number];

/** A network, and for each time between blocks the published figures. f is the most members that can be faulty: 1 of 4, 10 of 31. */
interface NetworkRow extends Faults {
  readonly title: string;
  /** Transactions per episode. */
  readonly transactions?: ByBlockTime;
  /** The 99th percentile of the seconds from due to stored. */
  readonly p99?: ByBlockTime;
}

const ROWS: readonly NetworkRow[] = [
  { title: "nothing", members: 4, transactions: [1.024, 1.011, 1.002], p99: [3.5, 4.5, 16.2] },
  { title: "nothing", members: 31, transactions: [1.02, 1.008, 1.002], p99: [3.4, 4.7, 13.4] },
  { title: "f down", members: 4, down: 1, transactions: [1.02, 1.011, 1.002], p99: [3.5, 4.4, 17] },
  { title: "f down", members: 31, down: 10, transactions: [1.025, 1.012, 1.002], p99: [4.5, 6.4, 23] },
  {
    ...{ title: "f sign and never send, or send what is never mined", members: 4, silent: 1 },
    ...{ transactions: [1.017, 1.009, 1.002], p99: [4.9, 6.8, 26.5] },
  },
  {
    ...{ title: "f sign and never send, or send what is never mined", members: 31, silent: 10 },
    ...{ transactions: [1.013, 1.006, 1.001], p99: [9.5, 13.4, 52.7] },
  },
  {
    ...{ title: "10% of links cut", members: 4, cutLinks: 0.1 },
    ...{ transactions: [1.107, 1.087, 1.07], p99: [4.4, 6.1, 23.6] },
  },
  {
    ...{ title: "10% of links cut", members: 31, cutLinks: 0.1 },
    ...{ transactions: [1.125, 1.102, 1.083], p99: [2.7, 3.6, 13.3] },
  },
  {
    ...{ title: "half of f down, 10% of links cut", members: 31, down: 5, cutLinks: 0.1 },
    ...{ transactions: [1.105, 1.1, 1.076], p99: [4.8, 6.6, 24.6] },
  },
  {
    ...{ title: "f - 1 down, 10% of requests lost", members: 4, lostRequests: 0.1 },
    ...{ transactions: [1.045, 1.025, 1.012], p99: [3.3, 3.8, 17.6] },
  },
  {
    ...{ title: "f - 1 down, 10% of requests lost", members: 31, down: 9, lostRequests: 0.1 },
    ...{ transactions: [1.072, 1.04, 1.011], p99: [5.6, 7.5, 25.6] },
  },
  // Most of these operators cannot gather a quorum, and nobody can help them: no bound.
  { title: "f down, 10% of links cut", members: 4, down: 1, cutLinks: 0.1 },
  { title: "f down, 10% of links cut", members: 31, down: 10, cutLinks: 0.1 },
];
/** One such network of 20 minutes is simulated for so many episodes of the other figures. */
const EPISODES_PER_NETWORK = 200;
/** How far a figure may be above the published one. */
const MORE_TRANSACTIONS = 1.1;
const LONGER = 1.25;

const USAGE = `Usage: npm run bench:network [-- --episodes N --seed N]

Simulates networks of 4 and 31 operators with a block every 1, 2 and 12 seconds, and prints how many transactions are
mined per episode (from due to stored), how long the slowest hundredth of the episodes takes, and how many are missed. Then
it prints how old a value becomes while dishonest members hold up the others' turns, with 4, 13 and 31 members. It exits
with 1 if a figure is outside its bound. It takes about five minutes.

  --episodes N  the number of episodes of each figure, from 100 (default: 6000)
  --seed N      the seed of the random numbers (default: 1)
  --help        show this text

Example
  npm run bench:network -- --episodes 1000`;

const { values } = readArguments(USAGE, {
  episodes: { type: "string", default: "6000", range: [100, 1_000_000] },
  seed: { type: "string", default: "1", range: [0, 1_000_000] },
});

console.log(
  `${values.episodes} episodes per figure, seed ${values.seed}; blocks of ${BLOCK_SECONDS.join(" / ")} s. In brackets: the ` +
    "published figures.\n",
);
console.log("| what is wrong | members | transactions per episode | p99 (s) | missed |\n|---|---|---|---|---|");
const outside: string[] = [];
for (const row of ROWS) {
  const figures = BLOCK_SECONDS.map((blockSeconds, index) => {
    process.stderr.write(`${row.title}, ${row.members} members, blocks of ${blockSeconds} s ...\n`);
    const random = new SeededRandom(Number(values.seed));
    const figure = simulateRow(MODEL, row, blockSeconds * 1_000, Number(values.episodes), random);
    outside.push(...faultsOf(row, index, figure));
    return figure;
  });
  const cell = (name: "transactions" | "p99", digits: number) => {
    const published = row[name] === undefined ? "" : ` (${row[name].map((one) => one.toFixed(digits)).join(" / ")})`;
    return figures.map((figure) => figure[name].toFixed(digits)).join(" / ") + published;
  };
  const missed = figures.map((figure) => `${(figure.missed * 100).toFixed(1)}%`).join(" / ");
  console.log(`| ${row.title} | ${row.members} | ${cell("transactions", 3)} | ${cell("p99", 1)} | ${missed} |`);
}

console.log(
  "\nf members store rounds in which one of them has the best rank. In brackets: heartbeat, f stages and a beat.\n\n" +
    "| members | oldest value (s) |\n|---|---|",
);
for (const row of HELD_TURNS) {
  const cells = BLOCK_SECONDS.map((blockSeconds) => {
    process.stderr.write(`held turns, ${row.members} members, blocks of ${blockSeconds} s ...\n`);
    const random = new SeededRandom(Number(values.seed));
    const networks = Array.from({ length: Math.ceil(Number(values.episodes) / EPISODES_PER_NETWORK) }, () =>
      simulateHeldTurns(MODEL, row, blockSeconds * 1_000, random),
    );
    const [oldest, bound] = [Math.max(...networks.map((one) => one.oldest)), networks[0]?.bound ?? 0];
    if (!(oldest <= bound)) {
      const where = `held turns, ${row.members} members, blocks of ${blockSeconds} s`;
      outside.push(`${where}: a value was ${oldest.toFixed(1)} s old (bound ${bound.toFixed(1)} s).`);
    }
    return `${oldest.toFixed(1)} (${bound.toFixed(1)})`;
  });
  console.log(`| ${row.members} | ${cells.join(" / ")} |`);
}

for (const sentence of outside) console.error(sentence);
if (outside.length > 0) process.exitCode = 1;

/** Returns one sentence for each figure that is outside its bound. */
function faultsOf(row: NetworkRow, index: number, { transactions, p99, missed }: Figure): string[] {
  const [published, publishedP99] = [row.transactions?.[index], row.p99?.[index]];
  if (published === undefined || publishedP99 === undefined) return [];
  const where = `${row.title}, ${row.members} members, blocks of ${BLOCK_SECONDS[index]} s`;
  const most = published * MORE_TRANSACTIONS;
  const longest = publishedP99 * LONGER;
  const faults: string[] = [];
  // Written this way, so that NaN is outside, too.
  if (!(transactions <= most)) {
    faults.push(`${where}: ${transactions.toFixed(3)} transactions per episode (bound ${most.toFixed(3)}).`);
  }
  if (!(p99 <= longest)) faults.push(`${where}: p99 is ${p99.toFixed(2)} s (bound ${longest.toFixed(2)} s).`);
  if (missed !== 0) faults.push(`${where}: ${(missed * 100).toFixed(2)}% of the episodes are missed (bound: none).`);
  return faults;
}
