import { seededChoices } from "@dataset-oracle/tools/seeded-random";

/** An attack that ends by itself takes far less time. */
const LONGEST_MS = 180_000;

/**
 * Runs one attack and ends the processes that it started. An attack that breaks, or tries nothing, counts as having got
 * through, because it proves nothing.
 */
export async function runAttack(attack, network, results, seed) {
  const tally = results.begin(attack.name);
  const timer = new AbortController();
  try {
    await Promise.race([attack.run(network, tally, seededChoices(seed)), deadline(timer.signal)]);
    if (tally.tried === 0) tally.breach("it tried nothing");
  } catch (error) {
    tally.breach(`it broke: ${error.stack ?? error}`);
  } finally {
    timer.abort();
    await network.endAttack();
    results.end(tally);
  }
}

function deadline(signal) {
  return new Promise((_, reject) => {
    const timer = setTimeout(() => reject(new Error(`not over after ${LONGEST_MS / 1_000} s`)), LONGEST_MS);
    signal.addEventListener("abort", () => clearTimeout(timer));
  });
}
