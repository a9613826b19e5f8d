/** How often a source may be asked. */
export interface RateLimit {
  readonly perSecond: number;
  /** How many requests may come at once. */
  readonly burst: number;
}

/** The longest that a request waits for its turn. */
const MAX_WAIT_MS = 1_500;

/** Whether a request may be made: after a wait, or not before another one. */
export type Turn =
  | { readonly ok: true; readonly waitMs: number }
  | { readonly ok: false; readonly retryAfterMs: number };

/**
 * Keeps requests to one origin within its rate limit. Half of the burst can be reserved: then only the callers that it
 * is reserved for may use it, and only they may wait for what flows in next. Without a reserve all are alike.
 */
export class TokenBucket {
  readonly #limit: RateLimit;
  readonly #hasReserve: boolean;
  #tokens: number;
  #at: number;

  /** Times are in milliseconds, of one clock. */
  constructor(limit: RateLimit, hasReserve: boolean, now: number) {
    this.#limit = limit;
    this.#hasReserve = hasReserve;
    this.#tokens = limit.burst;
    this.#at = now;
  }

  take(isReserved: boolean, now: number): Turn {
    this.#refill(now);
    const isFirst = isReserved || !this.#hasReserve;
    const missing = 1 + (isFirst ? 0 : Math.floor(this.#limit.burst / 2)) - this.#tokens;
    const waitMs = Math.max(0, Math.ceil((missing / this.#limit.perSecond) * 1_000));
    if (waitMs > (isFirst ? MAX_WAIT_MS : 0)) return { ok: false, retryAfterMs: waitMs };
    this.#tokens -= 1;
    return { ok: true, waitMs };
  }

  /** Empties the bucket for so long: the origin has said so itself. */
  pause(seconds: number, now: number): void {
    this.#refill(now);
    this.#tokens = Math.min(this.#tokens, 1 - seconds * this.#limit.perSecond);
  }

  /** Whether it allows all that it ever does: then a new one is as good. */
  isFull(now: number): boolean {
    this.#refill(now);
    return this.#tokens === this.#limit.burst;
  }

  #refill(now: number): void {
    const flowed = ((now - this.#at) / 1_000) * this.#limit.perSecond;
    this.#tokens = Math.min(this.#limit.burst, this.#tokens + flowed);
    this.#at = now;
  }
}
