import { err, ok, type Result } from "@dataset-oracle/protocol/result";

/** The rate limit of a source. */
export interface RateLimit {
  /** Sustained requests per second. */
  readonly perSecond: number;
  /** Requests that may be made at once. */
  readonly burst: number;
}

/** The longest that a request waits for a token. */
const MAX_WAIT_MS = 1_500;

/**
 * Keeps requests to one origin within its rate limit. Half of the burst can be reserved: then only reserved callers may
 * use it, and only they may wait for the next token. Without a reserve all callers are equal.
 */
export class TokenBucket {
  #tokens: number;
  #at: number;

  /** All times are in milliseconds, by the same clock. */
  constructor(
    private readonly limit: RateLimit,
    private readonly hasReserve: boolean,
    now: number,
  ) {
    this.#tokens = limit.burst;
    this.#at = now;
  }

  /**
   * Takes a token for one request.
   *
   * @returns How long the request must wait, or, when it may not be made, after how long it can be tried again; both in
   * milliseconds.
   */
  take(isReserved: boolean, now: number): Result<number, number> {
    this.#refill(now);
    const isFirst = isReserved || !this.hasReserve;
    const missing = 1 + (isFirst ? 0 : Math.floor(this.limit.burst / 2)) - this.#tokens;
    const waitMs = Math.max(0, Math.ceil((missing / this.limit.perSecond) * 1_000));
    if (waitMs > (isFirst ? MAX_WAIT_MS : 0)) return err(waitMs);
    this.#tokens -= 1;
    return ok(waitMs);
  }

  /** Tells if the bucket is full, so that a new one would behave the same. */
  isFull(now: number): boolean {
    this.#refill(now);
    return this.#tokens === this.limit.burst;
  }

  #refill(now: number): void {
    const flowed = ((now - this.#at) / 1_000) * this.limit.perSecond;
    this.#tokens = Math.min(this.limit.burst, this.#tokens + flowed);
    this.#at = now;
  }
}
