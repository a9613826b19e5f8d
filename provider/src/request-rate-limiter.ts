import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import type { RateLimit } from "./rate-limit-schema.js";
import { TokenBucket } from "./token-bucket.js";

/** The longest that a request waits for its turn. */
const MAX_WAIT_MS = 1_500;

/**
 * Keeps requests to one server within a rate limit. Half of the burst can be reserved: then only reserved callers may
 * use it, and only they may wait for their turn. Without a reserve all callers are equal.
 */
export class RequestRateLimiter {
  readonly #bucket: TokenBucket;

  constructor(
    private readonly limit: RateLimit,
    private readonly hasReserve: boolean,
  ) {
    this.#bucket = new TokenBucket(limit, hasReserve);
  }

  /**
   * Counts one request.
   *
   * @param now In milliseconds, always by the same clock.
   * @returns How long the request must wait, or, when it may not be made, after how long it can be tried again; both in
   * milliseconds.
   */
  take(mayUseReserve: boolean, now: number): Result<number, number> {
    const waitMs = this.#bucket.waitMs(now, mayUseReserve);
    if (waitMs > (mayUseReserve || !this.hasReserve ? MAX_WAIT_MS : 0)) return err(waitMs);
    this.#bucket.spend(1, now);
    return ok(waitMs);
  }

  /** Tells whether none of the limit is used up, so that a new limiter would behave the same. */
  isUnused(now: number): boolean {
    return this.#bucket.waitMs(now, true, this.limit.burst) === 0;
  }
}
