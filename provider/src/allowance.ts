import { LRUCache } from "lru-cache";
import { type RateLimit, TokenBucket } from "./token-bucket.js";

/** More than are used at the same time; the longest unused are forgotten. */
const MAX_BUCKETS = 10_000;

/** A token bucket for each id. All times are in milliseconds, by the same clock. */
export class Allowance {
  readonly #buckets = new LRUCache<string, TokenBucket>({ max: MAX_BUCKETS });

  constructor(private readonly limit: RateLimit) {}

  /** Returns after how many milliseconds an id may use more; 0 when it may now. At least `least` must be left. */
  waitMs(id: string, now: number, least?: number): number {
    return this.#bucketOf(id).waitMs(now, least);
  }

  spend(id: string, amount: number, now: number): void {
    const bucket = this.#bucketOf(id);
    bucket.spend(amount, now);
    this.#buckets.set(id, bucket);
  }

  #bucketOf(id: string): TokenBucket {
    return this.#buckets.get(id) ?? new TokenBucket(this.limit);
  }
}
