import { setTimeout as sleep } from "node:timers/promises";

/** How often something is done, and at which interval. */
export interface Schedule {
  readonly count: number;
  readonly intervalSeconds: number;
  /** Ends the repetition early. */
  readonly signal: AbortSignal;
}

/** Counts up at equal intervals, from 0 at once. A slow consumer makes the next wait shorter. */
export async function* repeatAtInterval({ count, intervalSeconds, signal }: Schedule): AsyncGenerator<number> {
  const start = performance.now();
  for (let index = 0; index < count; ++index) {
    const waitMs = start + index * intervalSeconds * 1_000 - performance.now();
    // It resolves when the time has come, and rejects when the signal ends it.
    const isDue = await sleep(Math.max(0, waitMs), true, { signal }).catch(() => false);
    if (!isDue) return;
    yield index;
  }
}
