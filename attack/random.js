import { seededRandom } from "@dataset-oracle/tools/seeded-random";

/** Repeatable random choices from a seed. */
export function randomOf(seed) {
  const next = seededRandom(Math.imul(seed + 1, 0x9e3779b1));
  /** Returns a whole number from 0 up to, but not including, `end`. */
  const below = (end) => Math.floor(next() * end);
  return { next, below, pick: (all) => all[below(all.length)] };
}
