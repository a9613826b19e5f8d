import { setMaxListeners } from "node:events";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Dispatcher } from "undici";
import { TRUSTED_CONNECTIONS } from "../trusted/connections.js";

/** The time, in two readings that are never compared with each other. */
export interface Clock {
  /** The time of day, in milliseconds since 1970. It can be set, forth and back. */
  now(): number;
  /** For durations: milliseconds since some moment. It never goes back, whatever the time of day is set to. */
  monotonic(): number;
}

/** Returns the time of day in whole seconds since 1970, as rounds and quotes have it. */
export const secondsOf = (clock: Pick<Clock, "now">): bigint => BigInt(Math.floor(clock.now() / 1_000));

/** What a whole process shares. */
export interface Context {
  readonly clock: Clock;
  /** Returns a number from 0 to below 1. */
  readonly random: () => number;
  readonly logger: Logger;
  /** Aborted when the process shuts down: every wait and every outgoing call ends with it. */
  readonly closing: AbortSignal;
  /** The connections to services that the owner has configured. */
  readonly dispatcher: Dispatcher;
  /** Where everything registers its metrics, each once per process. */
  readonly registry: Registry;
}

export const SYSTEM_CLOCK: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** Composes what a process shares, with the machine's own clock, randomness and network. */
export function createContext(logger: Logger, closing: AbortSignal, registry: Registry): Context {
  // Every wait and every outgoing call listens to it, so a large number of listeners is no leak.
  setMaxListeners(0, closing);
  const random = () => Math.random();
  return { clock: SYSTEM_CLOCK, random, logger, closing, dispatcher: TRUSTED_CONNECTIONS, registry };
}

/** Node's timers end at once when they are set for longer. */
const LONGEST_WAIT_MS = 2 ** 31 - 1;

/**
 * Waits, but not longer than until the signal is aborted. It never throws, and does not keep a process alive that does
 * nothing else.
 */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, Math.min(ms, LONGEST_WAIT_MS)).unref();
    if (signal.aborted) end();
    else signal.addEventListener("abort", end);
  });
}

/** Calls `work`, which must not throw, after every pause, until the process shuts down. */
export async function repeat(pauseMs: number, closing: AbortSignal, work: () => Promise<unknown>): Promise<void> {
  for (;;) {
    await wait(pauseMs, closing);
    if (closing.aborted) return;
    await work();
  }
}

/**
 * Makes a call with a signal that is aborted at a deadline, and with another signal, such as the end of the process.
 * Unlike `AbortSignal.timeout` and `AbortSignal.any`, it leaves neither a timer nor a listener behind.
 *
 * @param call Gets the signal. Its reason is a `TimeoutError` after the deadline (`isTimeout`), else the other signal's.
 */
export async function withDeadline<T>(
  ms: number,
  signal: AbortSignal | undefined,
  call: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const end = () => ended.abort(signal?.reason);
  const timer = setTimeout(() => ended.abort(new DOMException(`no answer within ${ms} ms`, "TimeoutError")), ms);
  if (signal?.aborted) end();
  else signal?.addEventListener("abort", end);
  try {
    return await call(ended.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
  }
}

/** Returns true if the signal of a call was aborted at its deadline. */
export function isTimeout({ reason }: AbortSignal): boolean {
  return reason instanceof DOMException && reason.name === "TimeoutError";
}

/** The bounds of a back-off, in milliseconds. */
export interface BackOffBounds {
  /** The longest wait after the first failure. Each further one doubles it. */
  readonly firstMs: number;
  /** Doubling ends here. */
  readonly maxMs: number;
}

/**
 * Returns how long to wait after failures in a row, in milliseconds. Up to half of the wait is left out at random, so that
 * those who failed together do not all come back together.
 *
 * @param failures At least one.
 */
export function backOffMs(failures: number, { firstMs, maxMs }: BackOffBounds, random: () => number): number {
  return Math.round(Math.min(firstMs * 2 ** (failures - 1), maxMs) * (1 - random() / 2));
}
