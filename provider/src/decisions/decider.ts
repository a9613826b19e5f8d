import type { SourceNote } from "@dataset-oracle/protocol/http-schemas/reports";
import {
  MAX_ROUND_AGE,
  MAX_ROUND_AGE_AT_DECISION,
  MAX_ROUND_AHEAD,
  USUAL_AGE,
} from "@dataset-oracle/protocol/signing-window";
import type { ProblemError } from "@dataset-oracle/service/http-server/problem-error";
import { isLogged, type Trace } from "@dataset-oracle/service/http-server/trace";
import { type Context, secondsOf, wait } from "@dataset-oracle/service/process/context";
import { LRUCache } from "lru-cache";
import type { KeyBudget, ReportCaller, TracedCaller } from "../callers/caller.js";
import { type RateLimit, TokenBuckets } from "../callers/rate-limit.js";
import {
  dataPointLogFields,
  type FreshValue,
  readValue,
  type ServedDataPoint,
  type ServedKey,
} from "../keys/served-keys.js";
import type { Metrics } from "../metrics.js";
import { problem, retryAfter } from "../problems.js";
import { RecordingReader } from "../source/recording-reader.js";
import type { SourceReader } from "../source/source-reader.js";
import { describeSources } from "../value/combined-value.js";
import type { PricePolicy } from "../value/spot-price.js";
import type { RateLimitedExtractor } from "../web-oracle/rate-limited-extractor.js";
import { type Decision, type DecisionMemory, toDecision } from "./decision-memory.js";
import type { Lease, LeaseProblem } from "./lease.js";

/** How many keys each anonymous caller may ask for. A row's may overdraw it. */
const ANONYMOUS_KEYS: RateLimit = { perSecond: 200, burst: 8_000 };
/** As how many keys a new decision counts. Half of the memory holds those of sixteen callers. */
const DECISION_COST = 6;

/** The maximum size of the notes on sources that are remembered, in characters. */
const MAX_NOTES_SIZE = 16 * 1024 * 1024;
/** The size that a note counts as, in addition to its texts. */
const NOTE_SIZE = 64;

/** Keeps what decisions were based on: separately, because anonymous callers can fill the Web Oracle's. */
type Evidence = Readonly<
  Record<ServedKey["kind"], { keep(value: FreshValue, round: bigint, decision: Decision): void }>
>;

/** Decides each data point's value at a round once. The decision is the same for every caller and every request. */
export class Decider implements KeyBudget {
  readonly #notes = new LRUCache<string, SourceNote[]>({
    maxSize: MAX_NOTES_SIZE,
    sizeCalculation: (notes, id) => notes.reduce((size, note) => size + sizeOfNote(note), NOTE_SIZE + id.length),
  });
  readonly #anonymousKeys = new TokenBuckets(ANONYMOUS_KEYS);

  /** @param evidence Null when none is kept. */
  constructor(
    private readonly reader: SourceReader,
    private readonly extractor: RateLimitedExtractor,
    private readonly memory: DecisionMemory,
    private readonly lease: Pick<Lease, "refusedThrough" | "problem" | "cover" | "permits">,
    private readonly evidence: Evidence | null,
    private readonly metrics: Metrics,
    private readonly context: Pick<Context, "clock" | "closing" | "logger">,
    private readonly policy: PricePolicy,
  ) {}

  /** Returns why the rounds that operators ask for now cannot be decided; null when they can. */
  async unreadiness(): Promise<ProblemError | null> {
    const { lease } = this;
    const time = this.#now;
    // Otherwise nobody would try again where requests are sent only to providers that are ready.
    if (lease.problem !== null) await lease.cover(time);
    if (lease.problem !== null) return leaseProblem(lease.problem);
    const through = this.#refusedThrough;
    return time - USUAL_AGE <= through ? silentThrough(through, time) : null;
  }

  /**
   * Returns the decisions for data points at a round: those that are remembered, else what the sources say now.
   *
   * @throws ProblemError when a data point cannot be decided now; then nothing was decided.
   */
  async decide(dataPoints: readonly ServedDataPoint[], round: bigint, caller: TracedCaller): Promise<Decision[]> {
    const ids = dataPoints.map(({ id }) => id);
    const decisions = this.memory.recall(round, ids);
    const undecided = dataPoints.filter(({ id }) => !decisions.has(id));
    if (undecided.length > 0) {
      for (const [id, decision] of await this.#decideNow(undecided, round, caller)) decisions.set(id, decision);
    }
    return ids.map((id) => decisions.get(id) as Decision);
  }

  /** Returns the notes on the sources of a decision, while they are remembered. */
  notesOf(dataPoint: ServedDataPoint, round: bigint): SourceNote[] | undefined {
    return this.#notes.get(noteId(dataPoint, round));
  }

  charge({ id, mayUseReserve }: ReportCaller, keys: number): void {
    if (mayUseReserve) return;
    const now = this.context.clock.monotonic();
    const waitMs = this.#anonymousKeys.waitMs(id, now);
    if (waitMs > 0) throw tooManyKeys(ANONYMOUS_KEYS.perSecond, Math.ceil(waitMs / 1_000));
    this.#anonymousKeys.spend(id, keys, now);
  }

  async #decideNow(dataPoints: readonly ServedDataPoint[], round: bigint, caller: TracedCaller) {
    const { lease } = this;
    // Checked before the sources are asked, so that an unsignable round cannot use up their rate limits.
    this.#refuseUnsignable(round, MAX_ROUND_AGE);
    this.#refuseWithoutRoom(dataPoints.length, caller.mayUseReserve);
    this.charge(caller, DECISION_COST * dataPoints.length);
    await this.#untilBegun(round);
    await lease.cover(round);
    this.#refuseWithoutLease(round);
    const fresh = await Promise.all(dataPoints.map((dataPoint) => this.#read(dataPoint, caller)));
    this.#logMissing(fresh, round, caller.trace);
    refuseBusy(fresh);
    const proposed = new Map(
      fresh.map(({ dataPoint, value }) => [dataPoint.id, toDecision(value.kind === "value" ? value.value : null)]),
    );
    // All is checked again, because reading took seconds in which the clock may have been set or the lease lost. From
    // here until the decision is recorded, nothing else can happen.
    this.#refuseWithoutRoom(dataPoints.length, caller.mayUseReserve);
    this.#refuseUnsignable(round, MAX_ROUND_AGE_AT_DECISION);
    this.#refuseWithoutLease(round);
    const decided = this.memory.record(round, proposed);
    for (const one of fresh) {
      const { dataPoint, value } = one;
      const decision = decided.get(dataPoint.id) as Decision;
      // A concurrent request may have decided first.
      if (decision !== proposed.get(dataPoint.id)) continue;
      this.metrics.decisions.inc({ form: dataPoint.dataset.keyForm, outcome: decision.outcome });
      this.#notes.set(noteId(dataPoint, round), describeSources(value.sources, dataPoint.dataset.kind));
      this.evidence?.[dataPoint.key.kind].keep(one, round, decision);
    }
    return decided;
  }

  /** Reads a value, and counts the sources that were not used. */
  async #read(dataPoint: ServedDataPoint, caller: TracedCaller): Promise<FreshValue> {
    const { policy } = this;
    const reader = new RecordingReader(this.reader);
    const at = this.#now;
    const value = await readValue(dataPoint.key, { reader, caller, policy, at }, this.extractor);
    this.metrics.valueRead(dataPoint.key.kind, value, at);
    return { dataPoint, value, at, answers: reader.answers };
  }

  /** Logs which data points have no value, in one line: the first, and how many more. */
  #logMissing(fresh: readonly FreshValue[], round: bigint, trace: Trace | null): void {
    if (!isLogged(trace)) return;
    const missing = fresh.flatMap(({ dataPoint, value }) => (value.kind === "none" ? { dataPoint, value } : []));
    const [first, ...more] = missing;
    if (first === undefined) return;
    const fields = { ...dataPointLogFields(first.dataPoint, round, trace), reason: first.value.reason };
    this.context.logger.warn({ ...fields, ...(more.length > 0 && { more: more.length }) }, "no value");
  }

  /** Waits for a round that is ahead of the clock, because its value must not be read earlier. */
  async #untilBegun(round: bigint): Promise<void> {
    const ahead = round - this.#now;
    if (ahead > 0n) await wait(Number(ahead) * 1_000, this.context.closing);
  }

  get #now(): bigint {
    return secondsOf(this.context.clock);
  }

  /** The last round for which no new decision is made, whatever the clock says. */
  get #refusedThrough(): bigint {
    const { lease, memory } = this;
    if (lease.refusedThrough > memory.forgottenThrough) return lease.refusedThrough;
    return memory.forgottenThrough;
  }

  /** @throws ProblemError when a round must not be signed for the first time now. */
  #refuseUnsignable(round: bigint, maxAge: bigint): void {
    const time = this.#now;
    if (round < time - maxAge) throw problem("round_too_old", { round, now: time });
    if (round > time + MAX_ROUND_AHEAD) throw problem("round_in_future", { round, now: time });
    if (round <= this.#refusedThrough) throw roundForgotten(round, this.#refusedThrough, time);
  }

  /** @throws ProblemError */
  #refuseWithoutLease(round: bigint): void {
    if (!this.lease.permits(round)) throw leaseProblem(this.lease.problem ?? "unwritable");
  }

  /** @throws ProblemError when so many more decisions cannot be remembered. */
  #refuseWithoutRoom(more: number, mayUseReserve: boolean): void {
    const seconds = this.memory.waitForRoom(more, mayUseReserve, this.#now);
    if (seconds > 0) throw problem("too_many_rounds", { seconds }, retryAfter(seconds));
  }
}

const sizeOfNote = ({ name, value, reason }: SourceNote): number =>
  NOTE_SIZE + name.length + (value?.length ?? 0) + (reason?.length ?? 0);

const noteId = ({ id }: ServedDataPoint, round: bigint) => `${round}/${id}`;

/** @throws ProblemError when it is unknown whether a data point has a value. */
function refuseBusy(fresh: readonly FreshValue[]): void {
  const busy = fresh.flatMap(({ dataPoint: { key }, value }) => (value.kind === "busy" ? { key: key.key, value } : []));
  if (busy.length === 0) return;
  const seconds = Math.max(...busy.map(({ value }) => value.retryAfter));
  const code = busy.every(({ value }) => value.isOutage) ? "source_unreachable" : "source_busy";
  throw problem(code, { seconds }, { extras: { keys: busy.map(({ key }) => key) }, ...retryAfter(seconds) });
}

const timeText = (seconds: bigint) => new Date(Number(seconds) * 1_000).toISOString().replace(".000Z", "Z");

/** Tells callers when the usual rounds are signed again. */
const retryAfterSilence = (through: bigint, now: bigint) =>
  retryAfter(through < now ? 1n : through - now + USUAL_AGE + 1n);

/** @param through The last round for which no new decision is made. */
const roundForgotten = (round: bigint, through: bigint, now: bigint) =>
  problem("round_forgotten", { round, through, time: timeText(through) }, retryAfterSilence(through, now));

const silentThrough = (through: bigint, now: bigint) => {
  const reason =
    `It signs no new round up to ${through} (${timeText(through)}), because it may have signed some of them before it ` +
    "was started. Wait until then. If that is far away, its clock was ahead: its owner can wait, or use a new key.";
  return problem(
    "not_ready",
    { reason },
    { title: "This provider does not sign yet.", ...retryAfterSilence(through, now) },
  );
};

/** Why a provider that has started signs nothing, and what its owner must do. */
const LEASE_PROBLEMS: Readonly<Record<LeaseProblem, string>> = {
  starting: "It has not taken its lease yet. Try again in a few seconds.",
  unwritable: "Its lease cannot be written. Its owner must make room on the disk, or mount it writable.",
  lost: "Another process has taken its lease, or its files were removed, so it ends. Its owner must run one process for each signing key.",
};

const leaseProblem = (lack: LeaseProblem) => problem("not_ready", { reason: LEASE_PROBLEMS[lack] }, retryAfter(5));

/** @param perSecond How many keys a caller may ask for in a second. */
const tooManyKeys = (perSecond: number, seconds: number) =>
  problem(
    "too_many_rounds",
    { seconds },
    {
      title: "This caller has asked for too many keys.",
      detail:
        `A caller that is not in "operators" may ask for ${perSecond} per second. New values, and new request specs, count as ` +
        `several. Try again in ${seconds} s.`,
      ...retryAfter(seconds),
    },
  );
