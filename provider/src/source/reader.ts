import { setTimeout as sleep } from "node:timers/promises";
import type { Egress } from "@dataset-oracle/service/egress/egress";
import type { FetchLimits, FetchRequest } from "@dataset-oracle/service/fetch";
import { type Answer, judgeAnswer } from "./answer.js";
import { type Reading, throttled } from "./reading.js";
import { type RateLimit, TokenBucket } from "./token-bucket.js";

/** The longest that a source may take for its whole answer, in milliseconds. */
export const SOURCE_MS = 5_000;

/** A request to a source, ready to be made. */
export interface SourceRequest extends FetchRequest {
  /** Names the source in figures. Without one it is `published`: strangers could make up any number of names. */
  readonly source?: string;
  /** Of all requests to the url's origin together; null without one. */
  readonly rateLimit: RateLimit | null;
}

/** Those of requests that are made again and again. */
const REQUEST_IDS = new WeakMap<FetchRequest, string>();

/** Requests with the same are answered alike. */
export function requestId(request: FetchRequest): string {
  const before = REQUEST_IDS.get(request);
  if (before !== undefined) return before;
  const { method, url, headers, body } = request;
  const id = JSON.stringify([method, url, headers ?? {}, body ?? null]);
  REQUEST_IDS.set(request, id);
  return id;
}

/** Some exchanges refuse requests that do not say who asks. */
export const USER_AGENT = "dataset-oracle-provider";

/** The most answers, and origins, that are remembered without need. */
const MAX_KEPT = 2_000;
const MAX_ORIGINS = 2_000;

/** After decompression. */
export const MAX_BYTES = 1024 * 1024;

interface KeptReading {
  readonly reading: Promise<Reading<Answer>>;
  /** By the provider's clock, in whole seconds; null while it is under way. */
  cameAt: bigint | null;
}

export interface SourceReaderOptions {
  readonly egress: Pick<Egress, "fetchText">;
  /** For a whole answer. */
  readonly timeoutMs: number;
  /** Whether a part of each source's rate limit is kept for those that it is reserved for. */
  readonly hasReserve: boolean;
  /** The clock, in whole seconds since 1970. */
  readonly now: () => bigint;
  /** Told of each request that was made: how long it took, in seconds, and what came of it. */
  readonly onAnswer?: (source: string, seconds: number, reading: Reading<Answer>) => void;
}

/**
 * Makes requests to sources, within their rate limits. What a source answered serves all who ask the same until the
 * clock's second is over, and failures do too: whoever asks, each url is fetched about once a second.
 */
export class SourceReader {
  readonly #egress: SourceReaderOptions["egress"];
  readonly #limits: FetchLimits;
  readonly #hasReserve: boolean;
  readonly #now: () => bigint;
  readonly #onAnswer: NonNullable<SourceReaderOptions["onAnswer"]>;
  /** By request, the oldest first. */
  readonly #kept = new Map<string, KeptReading>();
  /** By origin. */
  readonly #buckets = new Map<string, TokenBucket>();

  constructor({ egress, timeoutMs, hasReserve, now, onAnswer }: SourceReaderOptions) {
    this.#egress = egress;
    this.#limits = { timeoutMs, maxBytes: MAX_BYTES };
    this.#hasReserve = hasReserve;
    this.#now = now;
    this.#onAnswer = onAnswer ?? (() => {});
  }

  /**
   * The source's answer, or why there is none.
   *
   * @param isReserved Whether it is asked for somebody for whom a part of the rate limits is reserved.
   */
  async read(request: SourceRequest, isReserved: boolean): Promise<Reading<Answer>> {
    const id = requestId(request);
    const kept = this.#kept.get(id);
    if (kept !== undefined && (kept.cameAt === null || kept.cameAt === this.#now())) return kept.reading;
    const bucket = this.#bucket(request);
    const turn = bucket?.take(isReserved, performance.now()) ?? { ok: true, waitMs: 0 };
    if (!turn.ok) return throttled("is not asked: its rate limit is used up", turn.retryAfterMs / 1_000);
    const begun: KeptReading = { reading: this.#fetch(request, turn.waitMs, bucket), cameAt: null };
    this.#kept.delete(id);
    this.#kept.set(id, begun);
    this.#forget();
    return begun.reading.finally(() => {
      begun.cameAt = this.#now();
    });
  }

  async #fetch(request: SourceRequest, waitMs: number, bucket: TokenBucket | null): Promise<Reading<Answer>> {
    if (waitMs > 0) await sleep(waitMs);
    const headers = { accept: "application/json", "user-agent": USER_AGENT, ...request.headers };
    const begin = performance.now();
    const reading = judgeAnswer(await this.#egress.fetchText({ ...request, headers }, this.#limits), Date.now());
    this.#onAnswer(request.source ?? "published", (performance.now() - begin) / 1_000, reading);
    if (!reading.ok && reading.retryAfter !== undefined) bucket?.pause(reading.retryAfter, performance.now());
    return reading;
  }

  #bucket({ url, rateLimit }: SourceRequest): TokenBucket | null {
    if (rateLimit === null) return null;
    const { origin } = new URL(url);
    const now = performance.now();
    const bucket = this.#buckets.get(origin) ?? new TokenBucket(rateLimit, this.#hasReserve, now);
    this.#buckets.delete(origin);
    this.#buckets.set(origin, bucket);
    if (this.#buckets.size > MAX_ORIGINS) {
      for (const [other, idle] of this.#buckets) if (idle.isFull(now)) this.#buckets.delete(other);
    }
    return bucket;
  }

  /** Strangers may choose what is asked: what the clock's second no longer needs makes room. */
  #forget(): void {
    if (this.#kept.size <= MAX_KEPT) return;
    const now = this.#now();
    for (const [id, { cameAt }] of this.#kept) if (cameAt !== null && cameAt !== now) this.#kept.delete(id);
  }
}
