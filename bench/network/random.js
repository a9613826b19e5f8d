import { seededRandom } from "@dataset-oracle/tools/seeded-random";

/** Repeatable random events from a seed. */
export class Random {
  constructor(seed) {
    /** Returns a number from 0 up to, but not including, 1. */
    this.next = seededRandom(seed);
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

/**
 * An event that happens once in every 1 / `probability` draws, at a random place among them: as often as by chance, with less
 * difference from seed to seed.
 */
export class EvenChance {
  #drawn = 0;
  #place = 0;

  constructor(random, probability) {
    this.random = random;
    this.draws = Math.round(1 / probability);
  }

  draw() {
    if (this.#drawn === 0) this.#place = Math.floor(this.random.next() * this.draws);
    const happens = this.#drawn === this.#place;
    this.#drawn = (this.#drawn + 1) % this.draws;
    return happens;
  }
}
