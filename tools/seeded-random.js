/**
 * Mulberry32.
 *
 * @type {typeof import("./seeded-random.js").seededRandom}
 */
export function seededRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** @type {typeof import("./seeded-random.js").seededChoices} */
export function seededChoices(seed, stream = 0) {
  const next = seededRandom(Math.imul(seed, 0x9e3779b1) ^ Math.imul(stream + 1, 0x85ebca6b));
  /** @param {number} end */
  const below = (end) => Math.floor(next() * end);
  return { next, below, pick: (all) => all[below(all.length)] ?? all[0] };
}
