// Simulates how the nodes of a network send the rounds of their feeds, and compares it with the scheme that it replaced. The
// order, the waits and the turn are the operator's own code; providers, links, RPC endpoints and the chain are simulated.

import { readArguments } from "@dataset-oracle/tools/arguments";
import { Random } from "./random.js";
import { SCHEMES, simulateRound } from "./round.js";
import { BLOCK_SECONDS, isWithin, SITUATIONS } from "./situations.js";

const USAGE = `Usage: npm run bench:network [-- --rounds N --seed N --check]

Simulates rounds of networks of 4, 13 and 31 nodes on chains with a block every 1, 2 and 12 seconds, and prints how many
transactions are mined per round and how long after its beat a round is stored. Takes a minute or two.

  --rounds N   the number of rounds of each figure, from 100 (default: 2000)
  --seed N     the seed of the random numbers (default: 1)
  --check      exit with 1 if a figure misses its bound
  --help       show this text

Examples
  npm run bench:network
  npm run bench:network -- --rounds 6000 --seed 2`;

const { values } = readArguments(USAGE, {
  rounds: { type: "string", default: "2000", range: [100, 1_000_000] },
  seed: { type: "string", default: "1", range: [0, 1_000_000] },
  check: { type: "boolean", default: false },
});

const missed = [];
console.log(
  `${values.rounds} rounds a figure, seed ${values.seed}. One transaction in a hundred is stuck. Seconds since the beat.\n`,
);
console.log(
  `| scheme | nodes | | no quorum | ${BLOCK_SECONDS.map((s) => `${s} s blocks: transactions, p50, p99`).join(" | ")} |`,
);
console.log(`|---|---|---|---|${BLOCK_SECONDS.map(() => "---").join("|")}|`);
for (const situation of SITUATIONS) {
  const figures = [];
  for (const [i, seconds] of BLOCK_SECONDS.entries()) {
    const measured = await measure(situation, seconds * 1000);
    figures.push(measured);
    const bound = situation.bounds?.[i];
    if (bound !== undefined && !isWithin(measured, bound)) missed.push({ situation, seconds, measured, bound });
  }
  const cells = figures.map(
    ({ transactions, p50, p99 }) => `${transactions.toFixed(3)}, ${p50.toFixed(1)}, ${p99.toFixed(1)}`,
  );
  const noQuorum = Math.max(...figures.map((figure) => figure.noQuorum));
  console.log(
    `| ${situation.scheme} | ${situation.nodes} | ${situation.title} | ${(noQuorum * 100).toFixed(1)} % | ${cells.join(" | ")} |`,
  );
}
for (const { situation, seconds, measured, bound } of missed) {
  console.error(
    `${situation.scheme}, ${situation.nodes} nodes, ${situation.title}, blocks of ${seconds} s: ${measured.transactions.toFixed(3)} transactions a ` +
      `round (bound ${bound.transactions}), p99 ${measured.p99.toFixed(2)} s (bound ${bound.p99} s).`,
  );
}
if (values.check && missed.length > 0) process.exitCode = 1;

async function measure(situation, blockMs) {
  const random = new Random(Number(values.seed));
  const rounds = Number(values.rounds);
  const stored = [];
  let mined = 0;
  for (let index = 0; index < rounds; index++) {
    const round = await simulateRound(SCHEMES[situation.scheme], { ...situation, blockMs }, index, random);
    if (round.storedMs !== null) stored.push(round.storedMs / 1000);
    mined += round.mined;
  }
  stored.sort((a, b) => a - b);
  const at = (part) => stored[Math.min(stored.length - 1, Math.floor(part * stored.length))] ?? Number.NaN;
  return { transactions: mined / stored.length, p50: at(0.5), p99: at(0.99), noQuorum: 1 - stored.length / rounds };
}
