import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import type { Registry } from "prom-client";

/** Returns the current time, in milliseconds since 1970. */
export type Clock = () => number;

/** What the whole process shares. */
export interface Context {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborted when the process shuts down: every wait and every outgoing call ends with it. */
  readonly closing: AbortSignal;
  /** Where every room registers its metrics, each once per process. */
  readonly registry: Registry;
}

/** Calls `work`, which must not throw, after every pause, until the process shuts down. */
export async function repeat(pauseMs: number, closing: AbortSignal, work: () => Promise<unknown>): Promise<void> {
  for (;;) {
    await delay(pauseMs, undefined, { signal: closing, ref: false }).catch(() => {});
    if (closing.aborted) return;
    await work();
  }
}
