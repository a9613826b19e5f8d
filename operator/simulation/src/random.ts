import { seededRandom } from "@dataset-oracle/tools/seeded-random";

/** Repeatable random choices. Each part of the world draws from a stream of its own, so that one does not shift another. */
export class Random {
  readonly next: () => number;

  constructor(seed: number, stream: string) {
    let mixed = Math.imul(seed, 0x9e3779b1);
    for (const character of stream) mixed = Math.imul(mixed ^ (character.codePointAt(0) ?? 0), 0x85ebca6b);
    this.next = seededRandom(mixed);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  between(from: number, to: number): number {
    return from + (to - from) * this.next();
  }

  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  pick<T>(all: readonly T[]): T {
    return all[this.below(all.length)] as T;
  }

  /** A delay such as networks have: mostly near the median, now and then much longer. */
  logNormal(median: number, sigma: number): number {
    const [u, v] = [1 - this.next(), this.next()];
    return median * Math.exp(sigma * Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * v));
  }
}
