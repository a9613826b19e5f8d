import { setTimeout as sleep } from "node:timers/promises";
import { seededChoices } from "@dataset-oracle/tools/seeded-random";
import type { Attack } from "./attack.js";
import type { Network } from "./network/network.js";
import type { Results } from "./results.js";

/** An attack that ends by itself takes far less time. */
const LONGEST_MS = 180_000;

/**
 * Runs one attack and ends the processes that it started. An attack that fails with an error, or tries nothing, counts
 * as having got through, because it proves nothing.
 */
export async function runAttack(attack: Attack, network: Network, results: Results, seed: number): Promise<void> {
  const tally = results.begin(attack.name);
  const timer = new AbortController();
  try {
    await Promise.race([attack.run(network, tally, seededChoices(seed)), deadline(timer.signal)]);
    if (tally.tried === 0) tally.breach("it tried nothing");
  } catch (error) {
    tally.breach(`it failed: ${error instanceof Error ? error.stack : error}`);
  } finally {
    timer.abort();
    await network.endAttack();
    results.end(tally);
  }
}

async function deadline(signal: AbortSignal) {
  await sleep(LONGEST_MS, undefined, { signal });
  throw new Error(`not over after ${LONGEST_MS / 1_000} s`);
}
