import { setTimeout as sleep } from "node:timers/promises";

/** Counts up at equal intervals, from 0 at once, until the signal ends it. A slow consumer makes the next wait shorter. */
export async function* repeatAtInterval(count: number, seconds: number, signal: AbortSignal): AsyncGenerator<number> {
  const start = performance.now();
  for (let index = 0; index < count; ++index) {
    const waitMs = start + index * seconds * 1_000 - performance.now();
    // It resolves when the time has come, and rejects when the signal ends it.
    const isDue = await sleep(Math.max(0, waitMs), true, { signal }).catch(() => false);
    if (!isDue) return;
    yield index;
  }
}
