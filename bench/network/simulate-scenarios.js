import { Random } from "./random.js";
import { BLOCK_SECONDS, isWithin, SCENARIOS } from "./scenarios.js";
import { SCHEMES, simulateRound } from "./simulate-round.js";

const LEGEND =
  "beats: nodes take turns as the operator does. not shared: they do not share their transactions. superseded: the\n" +
  "previous scheme, in which they waited 30 s for each other. f: the most nodes that can be faulty. bait: a shared\n" +
  "transaction that is never mined.";

/**
 * Simulates how the nodes of a network send the rounds of their feeds, under the current scheme and the previous one,
 * and prints a table. The order, the waits and the turns are the operator's own code; providers, links, RPC endpoints
 * and the chain are simulated.
 *
 * @param rounds The number of rounds of each figure.
 * @returns One sentence for each figure that misses its bound.
 */
export async function simulateScenarios({ rounds, seed }) {
  const missed = [];
  console.log(
    `${rounds} simulated rounds per figure, seed ${seed}. One transaction in a hundred is stuck. Seconds since the beat.\n${LEGEND}\n`,
  );
  console.log(
    `| scheme | nodes | | no quorum | ${BLOCK_SECONDS.map((s) => `${s} s blocks: transactions, p50, p99`).join(" | ")} |`,
  );
  console.log(`|---|---|---|---|${BLOCK_SECONDS.map(() => "---").join("|")}|`);
  for (const scenario of SCENARIOS) {
    const figures = [];
    for (const [i, seconds] of BLOCK_SECONDS.entries()) {
      const measured = await measure(scenario, seconds * 1000, rounds, new Random(seed));
      figures.push(measured);
      const bound = scenario.bounds?.[i];
      if (bound === undefined || isWithin(measured, bound)) continue;
      missed.push(
        `${scenario.scheme}, ${scenario.nodes} nodes, ${scenario.title}, blocks of ${seconds} s: ${measured.transactions.toFixed(3)} ` +
          `transactions a round (bound ${bound.transactions}), p99 ${measured.p99.toFixed(2)} s (bound ${bound.p99} s).`,
      );
    }
    const cells = figures.map(
      ({ transactions, p50, p99 }) => `${transactions.toFixed(3)}, ${p50.toFixed(1)}, ${p99.toFixed(1)}`,
    );
    const noQuorum = Math.max(...figures.map((figure) => figure.noQuorum));
    console.log(
      `| ${scenario.scheme} | ${scenario.nodes} | ${scenario.title} | ${(noQuorum * 100).toFixed(1)} % | ${cells.join(" | ")} |`,
    );
  }
  return missed;
}

async function measure(scenario, blockMs, rounds, random) {
  const stored = [];
  let mined = 0;
  for (let index = 0; index < rounds; index++) {
    const round = await simulateRound(SCHEMES[scenario.scheme], { ...scenario, blockMs }, index, random);
    if (round.storedMs !== null) stored.push(round.storedMs / 1000);
    mined += round.mined;
  }
  stored.sort((a, b) => a - b);
  const at = (part) => stored[Math.min(stored.length - 1, Math.floor(part * stored.length))] ?? Number.NaN;
  return { transactions: mined / stored.length, p50: at(0.5), p99: at(0.99), noQuorum: 1 - stored.length / rounds };
}
