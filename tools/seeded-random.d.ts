/** Returns a function that gives repeatable random numbers from 0 up to, but not including, 1 (mulberry32). */
export function seededRandom(seed: number): () => number;
