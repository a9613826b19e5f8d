import { seededRandom } from "@dataset-oracle/tools/seeded-random";

/** Repeatable random numbers from a seed. */
export interface Random {
  /** Returns a number from 0 up to, but not including, 1. */
  next(): number;
  /** Returns a whole number from 0 up to, but not including, `below`. */
  below(below: number): number;
  pick<T>(all: readonly [T, ...T[]]): T;
}

/** @param stream A different stream gives different numbers from the same seed. */
export function randomOf(seed: number, stream: number): Random {
  const next = seededRandom(Math.imul(seed, 0x9e3779b1) ^ Math.imul(stream + 1, 0x85ebca6b));
  const below = (end: number) => Math.floor(next() * end);
  return { next, below, pick: (all) => all[below(all.length)] ?? all[0] };
}
