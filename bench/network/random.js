/** Repeatable random numbers from a seed (mulberry32). */
export class Random {
  #state;

  constructor(seed) {
    this.#state = seed >>> 0;
  }

  /** Returns a number from 0 up to, but not including, 1. */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  chance(probability) {
    return this.next() < probability;
  }

  between(from, to) {
    return from + (to - from) * this.next();
  }

  /** Returns a number whose logarithm is normally distributed, as delays on the internet roughly are. */
  logNormal(median, sigma) {
    const [u, v] = [1 - this.next(), this.next()];
    return median * Math.exp(sigma * Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * v));
  }

  /** Returns `count` of the numbers below `below`, in a random order. */
  sample(count, below) {
    const all = Array.from({ length: below }, (_, i) => i);
    for (let i = 0; i < count; i++) {
      const j = i + Math.floor(this.next() * (below - i));
      [all[i], all[j]] = [all[j], all[i]];
    }
    return all.slice(0, count);
  }
}
