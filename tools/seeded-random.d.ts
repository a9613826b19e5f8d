/** Returns a function that gives repeatable random numbers from 0 up to, but not including, 1 (mulberry32). */
export function seededRandom(seed: number): () => number;

/** Repeatable random choices. */
export interface Choices {
  /** Returns a number from 0 up to, but not including, 1. */
  next(): number;
  /** Returns a whole number from 0 up to, but not including, `end`. */
  below(end: number): number;
  pick<T>(all: readonly [T, ...T[]]): T;
}

/** @param stream A different stream gives different choices from the same seed. */
export function seededChoices(seed: number, stream?: number): Choices;
