import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import { type Context, wait } from "@dataset-oracle/service/process/context";
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
      perSecond: Type.Number({ minimum: 0.001, maximum: 1_000, description, ...perSecond }),
      burst: Type.Integer({ minimum: 1, maximum: 1_000, description: "Requests that may be made at once.", ...burst }),
    },
    { additionalProperties: false, ...options },
  );
}

/**
 * Returns the part of a rate limit that anonymous callers may use where operators are configured: half of it. Of a burst
 * of 1 it is all, which comes back while an operator waits for its turn.
 */
export const anonymousPart = ({ perSecond, burst }: RateLimit): RateLimit => ({
  perSecond: perSecond / 2,
  burst: Math.ceil(burst / 2),
});

/** The longest that a request waits for its turn: a row of thirty keys takes so long at an exchange of ten a second. */
export const MAX_WAIT_MS = 2_500;

/**
 * Keeps what is used within a rate limit. It can be charged afterwards, when the amount is known, and may then be
 * overdrawn. All times are in milliseconds, by the same clock.
 */
export class TokenBucket {
  #left: number;
  #at = 0;

  constructor(private readonly limit: RateLimit) {
    this.#left = limit.burst;
  }

  /** Returns after how many milliseconds an amount may be used; 0 when it may be used now. */
  waitMs(now: number, amount = 1): number {
    const missing = amount - this.#leftAt(now);
    return missing <= 0 ? 0 : Math.ceil((missing / this.limit.perSecond) * 1_000);
  }

  spend(amount: number, now: number): void {
    this.#left = this.#leftAt(now) - amount;
    this.#at = now;
  }

  /**
   * Counts one request, unless it would have to wait for longer than `MAX_WAIT_MS`.
   *
   * @returns How long the request must wait, or, when it may not be made, after how long it can be tried again; both in
   * milliseconds.
   */
  take(now: number): Result<number, number> {
    const waitMs = this.waitMs(now);
    if (waitMs > MAX_WAIT_MS) return err(waitMs);
    this.spend(1, now);
    return ok(waitMs);
  }

  /** Tells whether none of the limit is used up, so that a new bucket would behave the same. */
  isUnused(now: number): boolean {
    return this.waitMs(now, this.limit.burst) === 0;
  }

  #leftAt(now: number): number {
    const { perSecond, burst } = this.limit;
    return Math.min(burst, this.#left + ((now - this.#at) / 1_000) * perSecond);
  }
}

/**
 * A rate limit that operators and anonymous callers share. Operators' requests wait for their turn in front of those of
 * anonymous callers, who have a part of the limit, and only what operators leave of it.
 */
export class SharedRate {
  readonly #all: TokenBucket;
  /** Null without operators: then all callers are equal. */
  readonly #anonymous: TokenBucket | null;
  /** How much must be left when an anonymous caller's turn comes. */
  readonly #leastForAnonymous: number;

  constructor(
    private readonly context: Pick<Context, "clock" | "closing">,
    { perSecond, burst }: RateLimit,
    hasReserve: boolean,
  ) {
    this.#all = new TokenBucket({ perSecond, burst });
    const part = anonymousPart({ perSecond, burst });
    this.#anonymous = hasReserve ? new TokenBucket(part) : null;
    // A burst of 1 cannot be divided: an operator that comes next must not have to wait for too long.
    this.#leastForAnonymous = Math.max(1 + burst - part.burst, 2 - (perSecond * MAX_WAIT_MS) / 1_000);
  }

  /** Waits for the turn of one request; fails when it may not be made, with the milliseconds until it may be. */
  async turn(mayUseReserve: boolean): Promise<Result<null, number>> {
    const { clock, closing } = this.context;
    const queue = mayUseReserve || this.#anonymous === null ? this.#all : this.#anonymous;
    const turn = queue.take(clock.monotonic());
    if (!turn.ok) return turn;
    if (turn.value > 0) await wait(turn.value, closing);
    if (queue === this.#all) return ok(null);
    const now = clock.monotonic();
    const waitMs = this.#all.waitMs(now, this.#leastForAnonymous);
    if (waitMs > 0) return err(waitMs);
    this.#all.spend(1, now);
    return ok(null);
  }

  /** Tells whether none of the limit is used up, so that a new one would behave the same. */
  isUnused(): boolean {
    const now = this.context.clock.monotonic();
    return this.#all.isUnused(now) && this.#anonymous?.isUnused(now) !== false;
  }
}

/** More than are in use at the same time; beyond this, the least recently used are forgotten. */
const MAX_BUCKETS = 10_000;

/** A token bucket for each id. All times are in milliseconds, by the same clock. */
export class TokenBuckets {
  readonly #buckets = new LRUCache<string, TokenBucket>({ max: MAX_BUCKETS });

  constructor(private readonly limit: RateLimit) {}

  /** Returns after how many milliseconds an id may use more; 0 when it may now. */
  waitMs(id: string, now: number): number {
    return this.#bucketOf(id).waitMs(now);
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
