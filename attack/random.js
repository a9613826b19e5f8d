/** Repeatable random numbers from a seed (mulberry32). */
export function randomOf(seed) {
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  /** Returns a whole number from 0 up to, but not including, `end`. */
  const below = (end) => Math.floor(next() * end);
  return { next, below, pick: (all) => all[below(all.length)] };
}
