import { err } from "@dataset-oracle/protocol/result";
import { type Context, secondsOf, wait } from "@dataset-oracle/service/process/context";
import type { FetchLimits } from "@dataset-oracle/service/process/fetch-result";
import { type Egress, type EgressResult, MAX_CONNECTIONS } from "@dataset-oracle/service/untrusted/egress";
import { LRUCache } from "lru-cache";
import { MAX_WAIT_MS, type RateLimit, SharedRate } from "../callers/rate-limit.js";
import { RequestBackOffs } from "./back-off.js";
import { type Answer, type AnswerText, judgeAnswer, judgeText } from "./judge-answer.js";
import { notAsked, type Reading, type SourceFailure } from "./source-failure.js";
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
 * The maximum number of requests of published specs in flight or waiting. Each may hold 1 MiB. Half are for operators
 * only, if there are any.
 */
export const MAX_PUBLISHED_IN_FLIGHT = 256;

const TOO_MANY: EgressResult = err({ code: "busy", detail: "is not asked: too many requests are in flight" });

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

/** What operators' requests left behind, or those of anonymous callers. */
interface CallerState {
  /** Requests in progress, by `requestId`. */
  readonly pending: Map<string, Promise<Reading<AnswerText>>>;
  /** By `requestId`. */
  readonly cache: LRUCache<string, KeptReading>;
  readonly backOffs: RequestBackOffs;
  /** The number of connections to each host that its requests may use. */
  readonly connections: number;
  /** By origin; only those in use. */
  readonly places: Map<string, Places>;
}

/** The state of the requests of source files, or of those of published specs. Without operators, both are the same. */
interface CallerStates {
  readonly operators: CallerState;
  readonly anonymous: CallerState;
}

interface SourceReaderSettings {
  /** The deadline for a whole answer. */
  readonly timeoutMs: number;
  /** Distinguishes operators, who have a part of each source's rate limit to themselves, from anonymous callers. */
  readonly hasReserve: boolean;
  /** Called after each request with its duration in seconds and its result. */
  readonly onAnswer?: (source: string, seconds: number, reading: Reading<AnswerText>) => void;
  /** Called when a source starts to be queried less often, and when it answers again. */
  readonly onBackOff?: (request: SourceRequest, change: "started" | "ended", reading: Reading<AnswerText>) => void;
}

type ReaderContext = Pick<Context, "clock" | "random" | "closing">;

/**
 * Makes requests to sources within their rate limits, and leaves failing sources alone for a while. An answer, or a
 * failure, is shared by everyone who makes the same request until the clock's second is over, so each URL is fetched at
 * most about once a second, however many callers there are. Answers and back-offs of published specs never affect those
 * of source files, because whoever publishes a spec could otherwise choose how an exchange's answers are judged.
 *
 * What anonymous callers do never takes a value from an operator: their requests and failures are not an operator's, and
 * the back-offs that they began do not keep an operator's request back. What an operator's request found is true for all.
 */
export class SourceReader {
  readonly #limits: FetchLimits;
  /** By origin. This is not an LRU cache, because forgetting a rate in use would lift its limit. */
  readonly #rates = new Map<string, SharedRate>();
  readonly #ofFiles: CallerStates;
  readonly #ofPublished: CallerStates;
  /** The number of anonymous callers' requests of published specs. */
  #publicInFlight = 0;

  /** @param publishedEgress Makes the requests of published specs, so that they cannot use up what prices need. */
  constructor(
    private readonly egress: Pick<Egress, "fetchText">,
    private readonly publishedEgress: Pick<Egress, "fetchText">,
    private readonly context: ReaderContext,
    private readonly settings: SourceReaderSettings,
  ) {
    this.#limits = { timeoutMs: settings.timeoutMs, maxBytes: MAX_BYTES };
    this.#ofFiles = newState(context, settings, MAX_OF_FILES);
    this.#ofPublished = newState(context, settings, MAX_OF_PUBLISHED);
  }

  /** Reads a source's answer. With `mayUseReserve`, it is an operator's request. */
  read(request: FileRequest, mayUseReserve: boolean): Promise<Reading<Answer>>;
  read(request: SourceRequest, mayUseReserve: boolean): Promise<Reading<AnswerText>>;
  async read(request: SourceRequest, mayUseReserve: boolean): Promise<Reading<AnswerText>> {
    const id = requestId(request);
    const known = this.#knownReading(request, id, mayUseReserve);
    if (known !== undefined) return known;
    const refusal = this.#refusal(request, mayUseReserve);
    if (refusal !== null) return err(refusal);
    const { pending } = this.#stateOf(request, mayUseReserve);
    const reading = this.#inTurn(request, mayUseReserve).finally(() => pending.delete(id));
    pending.set(id, reading);
    return reading;
  }

  /** Returns a reading of this second, or one in progress. An operator's never is one that an anonymous caller began. */
  #knownReading(
    request: SourceRequest,
    id: string,
    mayUseReserve: boolean,
  ): Reading<AnswerText> | Promise<Reading<AnswerText>> | undefined {
    const { operators, anonymous } = this.#statesOf(request);
    const second = secondsOf(this.context.clock);
    const [ofOperators, ofAnonymous] = [operators, anonymous].map(({ cache }) => {
      const kept = cache.get(id);
      return kept?.second === second ? kept.reading : undefined;
    });
    if (ofOperators !== undefined) return ofOperators;
    if (ofAnonymous !== undefined && (ofAnonymous.ok || !mayUseReserve)) return ofAnonymous;
    return operators.pending.get(id) ?? (mayUseReserve ? undefined : anonymous.pending.get(id));
  }

  async #inTurn(request: SourceRequest, mayUseReserve: boolean): Promise<Reading<AnswerText>> {
    if (request.rateLimit === null) return this.#fetch(request, mayUseReserve);
    const { clock } = this.context;
    const start = clock.monotonic();
    const turn = await this.#rateOf(request, request.rateLimit).turn(mayUseReserve);
    if (!turn.ok) return notAsked("is not queried: its rate limit is used up", turn.error / 1_000);
    const { places, connections } = this.#stateOf(request, mayUseReserve);
    const origin = originOf(request);
    const ofOrigin = places.get(origin) ?? new Places(connections);
    places.set(origin, ofOrigin);
    if (!(await ofOrigin.take(start + MAX_WAIT_MS - clock.monotonic())))
      return notAsked("is not queried: all connections to it are in use", 1);
    try {
      // Checked again, because the source may have failed in the meantime.
      const refusal = this.#refusal(request, mayUseReserve);
      return refusal === null ? await this.#fetch(request, mayUseReserve) : err(refusal);
    } finally {
      ofOrigin.leave();
      if (ofOrigin.isUnused) places.delete(origin);
    }
  }

  async #fetch(request: SourceRequest, mayUseReserve: boolean): Promise<Reading<AnswerText>> {
    const { hasReserve, onAnswer, onBackOff } = this.settings;
    const { clock } = this.context;
    const { source, rateLimit } = request;
    const egress = source === undefined ? this.publishedEgress : this.egress;
    const start = clock.monotonic();
    const { backOffs, cache } = this.#stateOf(request, mayUseReserve);
    const id = requestId(request);
    if (rateLimit !== null) backOffs.begin(originOf(request), id, start);
    const headers = { ...DEFAULT_HEADERS, ...request.headers };
    const isPublic = hasReserve && !mayUseReserve && source === undefined;
    if (isPublic) this.#publicInFlight += 1;
    const isTooMany = isPublic && this.#publicInFlight > MAX_PUBLISHED_IN_FLIGHT / 2;
    const answer = isTooMany ? TOO_MANY : await egress.fetchText({ ...request, headers }, this.#limits);
    if (isPublic) this.#publicInFlight -= 1;
    // The provider's own limits, or its caller's allowance, say nothing about the source.
    if (!answer.ok && answer.error.code === "busy") return notAsked(answer.error.detail, 1);
    const now = clock.now();
    const judged = source === undefined ? judgeText(answer, now) : judgeAnswer(answer, now, source.findError);
    onAnswer?.(source?.name ?? "published", (clock.monotonic() - start) / 1_000, judged);
    const { reading, change } =
      rateLimit === null
        ? { reading: judged, change: null }
        : backOffs.record([originOf(request), id], judged, start, clock.monotonic());
    if (change !== null) onBackOff?.(request, change, reading);
    cache.set(id, { second: secondsOf(clock), reading });
    return reading;
  }

  /** Returns why a source that fails is not asked now, or null. */
  #refusal(request: SourceRequest, mayUseReserve: boolean): SourceFailure | null {
    if (request.rateLimit === null) return null;
    const [origin, id, now] = [originOf(request), requestId(request), this.context.clock.monotonic()];
    const { operators, anonymous } = this.#statesOf(request);
    const refusal = operators.backOffs.refusal(origin, id, now);
    if (refusal !== null) return refusal;
    // An exchange that refuses source files because of its rate limit is not asked for published specs either.
    const ofFiles = request.source === undefined ? this.#ofFiles.operators.backOffs.refusal(origin, null, now) : null;
    if (ofFiles !== null || mayUseReserve || operators === anonymous) return ofFiles;
    const own =
      anonymous.backOffs.refusal(origin, id, now) ?? this.#ofFiles.anonymous.backOffs.refusal(origin, null, now);
    // An operator would ask it now.
    return own && { code: "not_asked", detail: own.detail, retryAfter: own.retryAfter ?? 1 };
  }

  #statesOf({ source }: SourceRequest): CallerStates {
    return source === undefined ? this.#ofPublished : this.#ofFiles;
  }

  #stateOf(request: SourceRequest, mayUseReserve: boolean): CallerState {
    const { operators, anonymous } = this.#statesOf(request);
    return mayUseReserve ? operators : anonymous;
  }

  #rateOf(request: SourceRequest, rateLimit: RateLimit): SharedRate {
    const origin = originOf(request);
    const known = this.#rates.get(origin);
    if (known !== undefined) return known;
    if (this.#rates.size >= MAX_ORIGINS) {
      for (const [other, rate] of this.#rates) if (rate.isUnused()) this.#rates.delete(other);
    }
    const rate = new SharedRate(this.context, rateLimit, this.settings.hasReserve);
    this.#rates.set(origin, rate);
    return rate;
  }
}

function newState(
  { random }: ReaderContext,
  { timeoutMs, hasReserve }: SourceReaderSettings,
  maxCharacters: number,
): CallerStates {
  const ofCallers = (characters: number, connections: number): CallerState => ({
    pending: new Map(),
    // The parsed answer of a source file takes up to thirty times the memory of its text, which is what is bounded.
    cache: new LRUCache({
      maxSize: characters,
      sizeCalculation: ({ reading }) => BASE_SIZE + (reading.ok ? reading.value.text.length : 0),
      ttl: KEPT_MS,
      ttlAutopurge: true,
    }),
    backOffs: new RequestBackOffs(timeoutMs, random),
    connections,
    places: new Map(),
  });
  const all = ofCallers(maxCharacters, MAX_CONNECTIONS);
  if (!hasReserve) return { operators: all, anonymous: all };
  const half = maxCharacters / 2;
  return { operators: ofCallers(half, (MAX_CONNECTIONS * 3) / 4), anonymous: ofCallers(half, MAX_CONNECTIONS / 4) };
}

const originOf = ({ url }: SourceRequest) => new URL(url).origin;

/**
 * The places of the requests to one origin, of which so many are made at once as there are connections for them: then
 * none that counts as sent still waits for one. A request without a place was not sent, which is not a failure of the
 * source.
 */
class Places {
  #free: number;
  /** Those who wait for a place. Each is told by its signal that it has one. */
  readonly #waiting = new Set<AbortController>();

  constructor(private readonly size: number) {
    this.#free = size;
  }

  /** Waits for a place for at most so many milliseconds, and tells whether there was one. A place has to be left. */
  async take(maxWaitMs: number): Promise<boolean> {
    if (this.#free > 0) {
      this.#free -= 1;
      return true;
    }
    const entering = new AbortController();
    this.#waiting.add(entering);
    await wait(maxWaitMs, entering.signal);
    this.#waiting.delete(entering);
    return entering.signal.aborted;
  }

  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free += 1;
    else if (this.#waiting.delete(next)) next.abort();
  }

  get isUnused(): boolean {
    return this.#free === this.size;
  }
}
