import { err } from "@dataset-oracle/protocol/result";
import { backOffMs } from "@dataset-oracle/service/process/context";
import { LRUCache } from "lru-cache";
import type { Reading, SourceFailure } from "./source-failure.js";

/**
 * After a rate-limit answer: exchanges ban callers that go on, Bitfinex for up to 60 s. The shortest waits are half of
 * these, and what the source asks for may go beyond.
 */
const AFTER_RATE_LIMIT = { firstMs: 20_000, maxMs: 600_000 };
/** After any other failure. The first wait costs hardly more than the next second's value. */
const AFTER_FAILURE = { firstMs: 2_000, maxMs: 120_000 };

/** More than source files need. Beyond it, the least recently used are forgotten, and only the rate limit remains. */
const MAX_FAILING = 10_000;

/** An origin or a request that backs off. All times are in milliseconds, by the same clock. */
interface Failing {
  failure: SourceFailure;
  /** How many failures in a row there were. */
  failures: number;
  /** When the wait ends. */
  until: number;
  /** When the attempt after the wait counts as lost, if its outcome is never reported. */
  attemptUntil: number;
}

/** The change of state that a request's outcome caused. */
type BackOffChange = "started" | "ended" | null;

/**
 * Remembers what fails, and until when it is left alone: after a rate-limit answer the whole origin, because exchanges
 * limit addresses, and after any other failure only the same request, because a broken page says nothing about others.
 *
 * The wait doubles with each failure in a row. After it, one attempt is made alone; the others wait for its outcome.
 *
 * It makes no request and has no clock.
 */
export class RequestBackOffs {
  /** By origin, and by the ids of requests, which are never origins. */
  readonly #failing = new LRUCache<string, Failing>({ max: MAX_FAILING });

  /**
   * @param deadlineMs The deadline of a request.
   * @param random Returns a number from 0 to below 1.
   */
  constructor(
    private readonly deadlineMs: number,
    private readonly random: () => number,
  ) {}

  /**
   * Returns why a request is not made now, or null. The failure that caused it is repeated with its code, and stands
   * until the wait is over. While another request tries again, it is unknown what this one would get.
   */
  refusal(origin: string, id: string | null, now: number): SourceFailure | null {
    for (const key of [origin, id]) {
      const failing = key === null ? undefined : this.#failing.get(key);
      const waitMs = failing === undefined ? 0 : waitOf(failing, now);
      if (failing === undefined || waitMs === 0) continue;
      const { detail } = failing.failure;
      const code = now < failing.until ? failing.failure.code : "not_asked";
      const seconds = waitMs / 1_000;
      return {
        code,
        detail: `is not queried for another ${Math.ceil(seconds)} s after a failure: ${detail}`,
        ...((code === "throttled" || code === "not_asked") && { retryAfter: seconds }),
      };
    }
    return null;
  }

  /** Notes that a request is made now: if it is the first after a wait, the others wait for its outcome. */
  begin(origin: string, id: string, now: number): void {
    for (const key of [origin, id]) {
      const failing = this.#failing.peek(key);
      if (failing !== undefined) failing.attemptUntil = now + this.deadlineMs;
    }
  }

  /**
   * Takes note of a request's outcome. Returns it with the wait that a rate limit now causes. Requests that were under
   * way when a wait began are part of the failure that began it, and do not end the wait either.
   */
  record<T>(
    [origin, id]: readonly [origin: string, id: string],
    reading: Reading<T>,
    startedAt: number,
    now: number,
  ): { readonly reading: Reading<T>; readonly change: BackOffChange } {
    if (reading.ok) {
      const ended = [origin, id].filter((key) => startedAt >= (this.#failing.peek(key)?.until ?? Infinity));
      for (const key of ended) this.#failing.delete(key);
      return { reading, change: ended.length > 0 ? "ended" : null };
    }
    const failure = reading.error;
    const isLimit = failure.code === "throttled";
    const key = isLimit ? origin : id;
    const known = this.#failing.get(key);
    const failing = known ?? { failure, failures: 0, until: -Infinity, attemptUntil: -Infinity };
    failing.failure = failure;
    if (startedAt >= failing.until) {
      failing.failures += 1;
      failing.until = now + backOffMs(failing.failures, isLimit ? AFTER_RATE_LIMIT : AFTER_FAILURE, this.random);
      failing.attemptUntil = -Infinity;
    }
    // The source may have asked for a longer wait.
    failing.until = Math.max(failing.until, now + (failure.retryAfter ?? 0) * 1_000);
    this.#failing.set(key, failing);
    const retryAfter = waitOf(failing, now) / 1_000;
    const noted = { ...failure, ...(isLimit && { retryAfter }) };
    return { reading: err(noted), change: known === undefined ? "started" : null };
  }
}

/** Returns how long an attempt must wait; 0 when it may be made now. */
const waitOf = ({ until, attemptUntil }: Failing, now: number) => Math.max(0, until - now, attemptUntil - now);
