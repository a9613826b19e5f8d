import { seededRandom } from "@dataset-oracle/tools/seeded-random";

/** Repeatable random events from a seed. */
export class SeededRandom {
  /** Returns a number from 0 up to, but not including, 1. */
  readonly next: () => number;

  constructor(seed: number) {
    this.next = seededRandom(seed);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  between(from: number, to: number): number {
    return from + (to - from) * this.next();
  }

  /** Returns a number whose logarithm is normally distributed, as delays on the internet roughly are. */
  logNormal(median: number, sigma: number): number {
    const [u, v] = [1 - this.next(), this.next()];
    return median * Math.exp(sigma * Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * v));
  }

  /** Returns `count` of the numbers below `below`, in a random order. */
  sample(count: number, below: number): number[] {
    const all = Array.from({ length: below }, (_, i) => i);
    for (let i = 0; i < count; i++) {
      const j = i + Math.floor(this.next() * (below - i));
      [all[i], all[j]] = [all[j] as number, all[i] as number];
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

  readonly #draws: number;

  constructor(
    private readonly random: SeededRandom,
    probability: number,
  ) {
    this.#draws = Math.round(1 / probability);
  }

  draw(): boolean {
    if (this.#drawn === 0) this.#place = Math.floor(this.random.next() * this.#draws);
    const happens = this.#drawn === this.#place;
    this.#drawn = (this.#drawn + 1) % this.#draws;
    return happens;
  }
}
