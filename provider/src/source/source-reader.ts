import { setTimeout as sleep } from "node:timers/promises";
import { err } from "@dataset-oracle/protocol/result";
import type { Egress } from "@dataset-oracle/service/egress/egress";
import type { FetchLimits } from "@dataset-oracle/service/http-client/fetch-result";
import { LRUCache } from "lru-cache";
import { TokenBucket } from "../rate-limit.js";
import { RequestBackOffs } from "./back-off.js";
import { type Answer, type AnswerText, judgeAnswer, judgeText } from "./judge-answer.js";
import { type Reading, type SourceFailure, throttled } from "./source-failure.js";
import { type FileRequest, requestId, type SourceRequest } from "./source-request.js";

/** The size that a reading counts as, in addition to its text. */
const BASE_SIZE = 1_024;

/** Readings are forgotten after this time, even if nobody asks for them. Their second is over by then. */
const KEPT_MS = 3_000;

/** A reading, and the second in which it arrived: it is shared until that second is over. */
interface KeptReading {
  readonly second: bigint;
  readonly reading: Reading<AnswerText>;
}

/**
 * Makes a cache that keeps no more readings than fit. The parsed answer of a source file takes up to thirty times the
 * memory of its text, so the bound is on the texts.
 *
 * @param maxCharacters The most text that is kept, in characters. A longer answer is not kept.
 */
const newReadingCache = (maxCharacters: number): LRUCache<string, KeptReading> =>
  new LRUCache({
    maxSize: maxCharacters,
    sizeCalculation: ({ reading }) => BASE_SIZE + (reading.ok ? reading.value.text.length : 0),
    ttl: KEPT_MS,
    ttlAutopurge: true,
  });

/** The longest that a source may take for its whole answer, in milliseconds. */
export const SOURCE_MS = 5_000;

/** The maximum amount of answer text kept for source files: more than all of their answers within a second. */
const MAX_OF_FILES = 32 * 1024 * 1024;
/** The maximum amount of answer text kept for published specs, which anyone may have written. */
const MAX_OF_PUBLISHED = 8 * 1024 * 1024;

/** Above this many origins, the idle ones are forgotten. */
const MAX_ORIGINS = 2_000;

/** The maximum size of an answer after decompression, in bytes. */
export const MAX_BYTES = 1024 * 1024;

/** The headers that every source is sent by default. Some exchanges refuse requests without a user agent. */
const DEFAULT_HEADERS = { accept: "application/json", "user-agent": "dataset-oracle-provider" };

/** The state of the requests of source files, or of those of published specs. */
interface RequestState {
  /** Requests in progress, by `requestId`. */
  readonly pending: Map<string, Promise<Reading<AnswerText>>>;
  /** By `requestId`. */
  readonly cache: LRUCache<string, KeptReading>;
  readonly backOffs: RequestBackOffs;
}

interface SourceReaderOptions {
  readonly egress: Pick<Egress, "fetchText">;
  /** Makes the requests of published specs, so that they cannot use up what prices need; `egress` by default. */
  readonly publishedEgress?: Pick<Egress, "fetchText">;
  /** The deadline for a whole answer. */
  readonly timeoutMs: number;
  /** Reserves a part of each source's rate limit for reserved callers. */
  readonly hasReserve: boolean;
  /** The clock, in whole seconds since 1970. */
  readonly now: () => bigint;
  /** Called after each request with its duration in seconds and its result. */
  readonly onAnswer?: (source: string, seconds: number, reading: Reading<AnswerText>) => void;
  /** Called when a source starts to be queried less often, and when it answers again. */
  readonly onBackOff?: (request: SourceRequest, change: "started" | "ended", reading: Reading<AnswerText>) => void;
  /** Returns numbers from 0 to below 1, for jitter. */
  readonly random?: () => number;
}

/**
 * Makes requests to sources within their rate limits, and leaves failing sources alone for a while. An answer, or a
 * failure, is shared by everyone who makes the same request until the clock's second is over, so each URL is fetched at
 * most about once a second, however many callers there are. Answers and back-offs of published specs never affect those
 * of source files, because whoever publishes a spec could otherwise choose how an exchange's answers are judged.
 */
export class SourceReader {
  readonly #limits: FetchLimits;
  /** By origin. This is not an LRU cache, because forgetting a rate in use would lift its limit. */
  readonly #rates = new Map<string, TokenBucket>();
  readonly #ofFiles: RequestState;
  readonly #ofPublished: RequestState;

  constructor(private readonly options: SourceReaderOptions) {
    this.#limits = { timeoutMs: options.timeoutMs, maxBytes: MAX_BYTES };
    this.#ofFiles = newState(options, MAX_OF_FILES);
    this.#ofPublished = newState(options, MAX_OF_PUBLISHED);
  }

  /** Reads a source's answer. With `mayUseReserve`, it may use the reserved part of the rate limit. */
  read(request: FileRequest, mayUseReserve: boolean): Promise<Reading<Answer>>;
  read(request: SourceRequest, mayUseReserve: boolean): Promise<Reading<AnswerText>>;
  async read(request: SourceRequest, mayUseReserve: boolean): Promise<Reading<AnswerText>> {
    const id = requestId(request);
    const { pending, cache } = this.#stateOf(request);
    const { now } = this.options;
    const kept = cache.get(id);
    const known = pending.get(id) ?? (kept?.second === now() ? kept.reading : undefined);
    if (known !== undefined) return known;
    const refusal = this.#refusal(request);
    if (refusal !== null) return err(refusal);
    const rate = this.#rateOf(request);
    const wait = rate === null ? null : rate.take(mayUseReserve, performance.now());
    if (wait?.ok === false) return throttled("is not queried: its rate limit is used up", wait.error / 1_000);
    const fetched = this.#fetch(request, wait?.value ?? 0);
    pending.set(id, fetched);
    try {
      const reading = await fetched;
      // A request that was not made for want of its caller's allowance says nothing to others.
      if (reading.ok || reading.error.code !== "throttled") cache.set(id, { second: now(), reading });
      return reading;
    } finally {
      pending.delete(id);
    }
  }

  async #fetch(request: SourceRequest, waitMs: number): Promise<Reading<AnswerText>> {
    const { egress: own, publishedEgress = own, onAnswer } = this.options;
    const egress = request.source === undefined ? publishedEgress : own;
    if (waitMs > 0) await sleep(waitMs);
    // Checked again, because the source may have failed in the meantime.
    const refusal = this.#refusal(request);
    if (refusal !== null) return err(refusal);
    const start = performance.now();
    if (request.rateLimit !== null) this.#stateOf(request).backOffs.begin(originOf(request), requestId(request), start);
    const headers = { ...DEFAULT_HEADERS, ...request.headers };
    const answer = await egress.fetchText({ ...request, headers }, this.#limits);
    // The provider's own limit says nothing about the source.
    if (!answer.ok && answer.error.code === "busy") return throttled(answer.error.detail, 1);
    const { source } = request;
    const reading =
      source === undefined ? judgeText(answer, Date.now()) : judgeAnswer(answer, Date.now(), source.findError);
    onAnswer?.(source?.name ?? "published", (performance.now() - start) / 1_000, reading);
    return this.#record(request, reading, start);
  }

  /** Returns why a source that fails is not asked now, or null. */
  #refusal(request: SourceRequest): SourceFailure | null {
    if (request.rateLimit === null) return null;
    const [origin, now] = [originOf(request), performance.now()];
    const refusal = this.#stateOf(request).backOffs.refusal(origin, requestId(request), now);
    if (refusal !== null || request.source !== undefined) return refusal;
    // An exchange that refuses source files because of its rate limit is not asked for published specs either.
    return this.#ofFiles.backOffs.refusal(origin, null, now);
  }

  #record(request: SourceRequest, reading: Reading<AnswerText>, startedAt: number): Reading<AnswerText> {
    if (request.rateLimit === null) return reading;
    const { backOffs } = this.#stateOf(request);
    const noted = backOffs.record([originOf(request), requestId(request)], reading, startedAt, performance.now());
    if (noted.change !== null) this.options.onBackOff?.(request, noted.change, noted.reading);
    return noted.reading;
  }

  #stateOf({ source }: SourceRequest): RequestState {
    return source === undefined ? this.#ofPublished : this.#ofFiles;
  }

  #rateOf(request: SourceRequest): TokenBucket | null {
    const { rateLimit } = request;
    if (rateLimit === null) return null;
    const origin = originOf(request);
    const now = performance.now();
    const known = this.#rates.get(origin);
    if (known !== undefined) return known;
    if (this.#rates.size >= MAX_ORIGINS) {
      for (const [other, rate] of this.#rates) if (rate.isUnused(now)) this.#rates.delete(other);
    }
    const rate = new TokenBucket(rateLimit, this.options.hasReserve);
    this.#rates.set(origin, rate);
    return rate;
  }
}

const newState = ({ timeoutMs, random = Math.random }: SourceReaderOptions, maxCharacters: number): RequestState => ({
  pending: new Map(),
  cache: newReadingCache(maxCharacters),
  backOffs: new RequestBackOffs(timeoutMs, random),
});

const originOf = ({ url }: SourceRequest) => new URL(url).origin;
