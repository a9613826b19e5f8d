import type { Memory } from "./chaos-result.js";
import type { FleetOperator } from "./start-operators.js";

/** Samples the memory of the processes. */
export class MemoryWatch {
  readonly #seen: { readonly name: string; readonly starts: number; readonly bytes: number }[] = [];

  constructor(private readonly operators: readonly FleetOperator[]) {}

  sample(): void {
    for (const { name, process } of this.operators) {
      if (process.isUp) this.#seen.push({ name, starts: process.starts, bytes: process.rss() });
    }
  }

  report(): Memory {
    const lives = this.operators.map(({ name, process }) =>
      this.#seen.filter((one) => one.name === name && one.starts === process.starts).map(({ bytes }) => bytes),
    );
    const part = (from: number, to: number) => (all: readonly number[]) =>
      all.slice(Math.floor(all.length * from), Math.ceil(all.length * to));
    return {
      peak: megabytes(Math.max(0, ...this.#seen.map(({ bytes }) => bytes))),
      midRunMedian: megabytes(median(lives.flatMap(part(0.4, 0.6)))),
      finalMedian: megabytes(median(lives.flatMap(part(0.8, 1)))),
    };
  }
}

function median(all: readonly number[]): number {
  return all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
