import { setTimeout as sleep } from "node:timers/promises";
import type { Egress } from "@dataset-oracle/service/egress/egress";
import type { FetchLimits, FetchRequest } from "@dataset-oracle/service/fetch";
import { LRUCache } from "lru-cache";
import { type Answer, judgeAnswer } from "./answer.js";
import { type Reading, throttled } from "./reading.js";
import { type RateLimit, TokenBucket } from "./token-bucket.js";

/** The longest that a source may take for its whole answer, in milliseconds. */
export const SOURCE_MS = 5_000;

/** A request to a source. */
export interface SourceRequest extends FetchRequest {
  /** The source's name in metrics; `published` when absent, because a published spec could use any number of names. */
  readonly source?: string;
  /** Applies to all requests to the URL's origin together; null without a limit. */
  readonly rateLimit: RateLimit | null;
}

/** The ids of requests that are made again and again. */
const REQUEST_IDS = new WeakMap<FetchRequest, string>();

/** Returns an id that two requests share when they get the same answer. */
export function requestId(request: FetchRequest): string {
  const known = REQUEST_IDS.get(request);
  if (known !== undefined) return known;
  const { method, url, headers, body } = request;
  const id = JSON.stringify([method, url, headers ?? {}, body ?? null]);
  REQUEST_IDS.set(request, id);
  return id;
}

/** Adds the headers of every request; some exchanges refuse requests without a user agent. */
export const withHeaders = (request: FetchRequest): FetchRequest => ({
  ...request,
  headers: { accept: "application/json", "user-agent": "dataset-oracle-provider", ...request.headers },
});

/** The most answers that are kept: several times what a provider of a thousand keys reads in a second. */
const MAX_ANSWERS = 2_000;

/** Above this many origins, the idle ones are forgotten. */
const MAX_ORIGINS = 2_000;

/** The largest answer, after decompression. */
export const MAX_BYTES = 1024 * 1024;

interface SharedReading {
  readonly reading: Promise<Reading<Answer>>;
  /** The arrival time by the provider's clock, in whole seconds; null while the request is in progress. */
  arrivedAt: bigint | null;
}

export interface SourceReaderOptions {
  readonly egress: Pick<Egress, "fetchText">;
  /** The deadline for a whole answer. */
  readonly timeoutMs: number;
  /** Reserves a part of each source's rate limit for reserved callers. */
  readonly hasReserve: boolean;
  /** The clock, in whole seconds since 1970. */
  readonly now: () => bigint;
  /** Called after each request with its duration in seconds and its result. */
  readonly onAnswer?: (source: string, seconds: number, reading: Reading<Answer>) => void;
}

/**
 * Makes requests to sources within their rate limits. An answer, or a failure, is shared by everyone who asks the same
 * until the clock's second is over, so each URL is fetched about once a second however many callers there are.
 */
export class SourceReader {
  readonly #options: SourceReaderOptions;
  readonly #limits: FetchLimits;
  /** By `requestId`. */
  readonly #shared = new LRUCache<string, SharedReading>({ max: MAX_ANSWERS });
  /** By origin. This is not an LRU cache, because forgetting a bucket in use would lift its limit. */
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(options: SourceReaderOptions) {
    this.#options = options;
    this.#limits = { timeoutMs: options.timeoutMs, maxBytes: MAX_BYTES };
  }

  /** Reads a source's answer. With `isReserved`, it may use the reserved part of the rate limit. */
  async read(request: SourceRequest, isReserved: boolean): Promise<Reading<Answer>> {
    const { now } = this.#options;
    const id = requestId(request);
    const known = this.#shared.get(id);
    if (known !== undefined && (known.arrivedAt === null || known.arrivedAt === now())) return known.reading;
    const bucket = this.#bucketOf(request);
    const wait = bucket === null ? null : bucket.take(isReserved, performance.now());
    if (wait?.ok === false) return throttled("is not asked: its rate limit is used up", wait.error / 1_000);
    const shared: SharedReading = { reading: this.#fetch(request, wait?.value ?? 0, bucket), arrivedAt: null };
    this.#shared.set(id, shared);
    return shared.reading.finally(() => {
      shared.arrivedAt = now();
    });
  }

  async #fetch(request: SourceRequest, waitMs: number, bucket: TokenBucket | null): Promise<Reading<Answer>> {
    const { egress, onAnswer } = this.#options;
    if (waitMs > 0) await sleep(waitMs);
    const start = performance.now();
    const reading = judgeAnswer(await egress.fetchText(withHeaders(request), this.#limits), Date.now());
    onAnswer?.(request.source ?? "published", (performance.now() - start) / 1_000, reading);
    if (!reading.ok && reading.error.retryAfter !== undefined) {
      bucket?.pause(reading.error.retryAfter, performance.now());
    }
    return reading;
  }

  #bucketOf({ url, rateLimit }: SourceRequest): TokenBucket | null {
    if (rateLimit === null) return null;
    const { origin } = new URL(url);
    const now = performance.now();
    const known = this.#buckets.get(origin);
    if (known !== undefined) return known;
    if (this.#buckets.size >= MAX_ORIGINS) {
      for (const [other, bucket] of this.#buckets) if (bucket.isFull(now)) this.#buckets.delete(other);
    }
    const bucket = new TokenBucket(rateLimit, this.#options.hasReserve, now);
    this.#buckets.set(origin, bucket);
    return bucket;
  }
}
