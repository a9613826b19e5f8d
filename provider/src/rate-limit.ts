import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import { type IntegerOptions, type NumberOptions, type ObjectOptions, Type } from "@sinclair/typebox";
import { LRUCache } from "lru-cache";

/** How much of something may be used, for example how many requests may be made. */
export interface RateLimit {
  /** The sustained amount. */
  readonly perSecond: number;
  /** The amount that may be used at once. */
  readonly burst: number;
}

/** Makes the schema of a rate limit of requests, with these settings besides the usual ones. */
export function rateLimitSchema(perSecond: NumberOptions, burst: IntegerOptions, options: ObjectOptions) {
  const description = "Sustained requests per second.";
  return Type.Object(
    {
      perSecond: Type.Number({ exclusiveMinimum: 0, maximum: 1_000, description, ...perSecond }),
      burst: Type.Integer({
        minimum: 1,
        maximum: 1_000,
        description: "Requests that may be made at once.",
        ...burst,
      }),
    },
    { additionalProperties: false, ...options },
  );
}

/** The longest that a request waits for its turn. */
const MAX_WAIT_MS = 1_500;

/**
 * Keeps what is used within a rate limit. It can be charged afterwards, when the amount is known, and may then be
 * overdrawn.
 */
export class TokenBucket {
  readonly #reserve: number;
  #left: number;
  #at = 0;

  /**
   * All times are in milliseconds, by the same clock.
   *
   * @param hasReserve Reserves half of the burst: only those who may use the reserve can use more than the other half.
   */
  constructor(
    private readonly limit: RateLimit,
    private readonly hasReserve = false,
  ) {
    this.#reserve = hasReserve ? Math.floor(limit.burst / 2) : 0;
    this.#left = limit.burst;
  }

  /** Returns after how many milliseconds an amount may be used; 0 when it may be used now. */
  waitMs(now: number, mayUseReserve = false, amount = 1): number {
    const missing = amount + (mayUseReserve ? 0 : this.#reserve) - this.#leftAt(now);
    return missing <= 0 ? 0 : Math.ceil((missing / this.limit.perSecond) * 1_000);
  }

  spend(amount: number, now: number): void {
    this.#left = this.#leftAt(now) - amount;
    this.#at = now;
  }

  /**
   * Counts one request. If there is a reserve, only those who may use it may wait for their turn.
   *
   * @returns How long the request must wait, or, when it may not be made, after how long it can be tried again; both in
   * milliseconds.
   */
  take(mayUseReserve: boolean, now: number): Result<number, number> {
    const waitMs = this.waitMs(now, mayUseReserve);
    if (waitMs > (mayUseReserve || !this.hasReserve ? MAX_WAIT_MS : 0)) return err(waitMs);
    this.spend(1, now);
    return ok(waitMs);
  }

  /** Tells whether none of the limit is used up, so that a new bucket would behave the same. */
  isUnused(now: number): boolean {
    return this.waitMs(now, true, this.limit.burst) === 0;
  }

  #leftAt(now: number): number {
    const { perSecond, burst } = this.limit;
    return Math.min(burst, this.#left + ((now - this.#at) / 1_000) * perSecond);
  }
}

/** More than are in use at the same time; beyond this, the least recently used are forgotten. */
const MAX_BUCKETS = 10_000;

/** A token bucket for each id. All times are in milliseconds, by the same clock. */
export class TokenBuckets {
  readonly #buckets = new LRUCache<string, TokenBucket>({ max: MAX_BUCKETS });

  /** @param hasReserve Reserves half of each id's burst. */
  constructor(
    private readonly limit: RateLimit,
    private readonly hasReserve = false,
  ) {}

  /** Returns after how many milliseconds an id may use more; 0 when it may now. */
  waitMs(id: string, now: number, mayUseReserve?: boolean): number {
    return this.#bucketOf(id).waitMs(now, mayUseReserve);
  }

  /** Counts one request of an id, as `TokenBucket` does. */
  take(id: string, mayUseReserve: boolean, now: number): Result<number, number> {
    const bucket = this.#bucketOf(id);
    this.#buckets.set(id, bucket);
    return bucket.take(mayUseReserve, now);
  }

  spend(id: string, amount: number, now: number): void {
    const bucket = this.#bucketOf(id);
    bucket.spend(amount, now);
    this.#buckets.set(id, bucket);
  }

  #bucketOf(id: string): TokenBucket {
    return this.#buckets.get(id) ?? new TokenBucket(this.limit, this.hasReserve);
  }
}
