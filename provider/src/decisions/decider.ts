import { setTimeout as sleep } from "node:timers/promises";
import type { SourceNote } from "@dataset-oracle/protocol/http-schemas/reports";
import { LRUCache } from "lru-cache";
import type { TracedCaller } from "../caller.js";
import type { DataPoint } from "../data-point.js";
import type { DataPointReader, FreshValue } from "../data-point-reader.js";
import { describeSources } from "../describe-sources.js";
import type { EvidenceStore } from "../evidence/evidence-store.js";
import type { Metrics } from "../metrics.js";
import { roundForgotten, roundInFuture, roundTooOld, sourceBusy, tooManyRounds } from "../problems.js";
import type { ServedKey } from "../served-datasets.js";
import { comparedToWindow, MAX_ROUND_AGE, MAX_ROUND_AGE_AT_DECISION, USUAL_AGE } from "../signing-window.js";
import { type Decision, toDecision } from "./decision-record.js";
import type { DecisionStore } from "./decision-store.js";

/** The maximum number of decisions whose notes on the sources are remembered. */
const MAX_NOTED = 20_000;

interface DeciderParts {
  readonly values: DataPointReader;
  readonly store: Pick<DecisionStore, "prunedThrough" | "isWritable" | "recall" | "decide">;
  /** Null when no evidence is kept. The stores are separate because anonymous callers can fill the Web Oracle's. */
  readonly evidence: Readonly<Record<ServedKey["kind"], Pick<EvidenceStore, "keep">>> | null;
  /** The clock, in whole seconds since 1970. */
  readonly now: () => bigint;
  readonly metrics: Metrics;
}

/** Decides each data point's value at a round once. The decision is the same for every caller and every request. */
export class Decider {
  readonly #notes = new LRUCache<string, SourceNote[]>({ max: MAX_NOTED });

  constructor(private readonly parts: DeciderParts) {}

  /** Tells whether the rounds that operators ask for now can be decided. */
  isReady(): boolean {
    const { now, store } = this.parts;
    return store.isWritable && now() - USUAL_AGE > store.prunedThrough;
  }

  /**
   * Returns the decisions for data points at a round: the stored ones, else what the sources say now. All are on disk.
   *
   * @throws ProblemError when a data point cannot be decided now; then nothing was decided.
   */
  async decide(dataPoints: readonly DataPoint[], round: bigint, caller: TracedCaller): Promise<Decision[]> {
    const { store } = this.parts;
    const decisions = store.recall(
      round,
      dataPoints.map(({ id }) => id),
    );
    const undecided = dataPoints.filter(({ id }) => !decisions.has(id));
    if (undecided.length > 0) {
      for (const [id, decision] of await this.#decideNow(undecided, round, caller)) decisions.set(id, decision);
    }
    return dataPoints.map(({ id }) => decisions.get(id) as Decision);
  }

  /** Returns the notes on the sources of a decision, while they are remembered. */
  notesOf(dataPoint: DataPoint, round: bigint): SourceNote[] | undefined {
    return this.#notes.get(noteId(dataPoint, round));
  }

  async #decideNow(dataPoints: readonly DataPoint[], round: bigint, caller: TracedCaller) {
    const { values, store, evidence, metrics } = this.parts;
    // Checked before the sources are asked, so that an unsignable round cannot use up their rate limits.
    this.#refuseUnsignable(round, MAX_ROUND_AGE);
    await this.#untilBegun(round);
    const fresh = await Promise.all(dataPoints.map((dataPoint) => values.read(dataPoint, round, caller)));
    refuseBusy(fresh);
    // Checked again, because the round may have left the window while the sources answered.
    this.#refuseUnsignable(round, MAX_ROUND_AGE_AT_DECISION);
    const proposed = new Map(
      fresh.map(({ dataPoint, value }) => [dataPoint.id, toDecision(value.kind === "value" ? value.value : null)]),
    );
    const decided = await store.decide(round, proposed);
    if (decided === null) throw tooManyRounds();
    for (const one of fresh) {
      const { dataPoint, value } = one;
      const [mine, decision] = [proposed.get(dataPoint.id), decided.get(dataPoint.id)];
      // A concurrent request may have decided first, with another value or the same.
      if (mine === decision && mine !== undefined) metrics.decided(dataPoint.dataset.keyForm, mine.outcome);
      if (mine === undefined || mine.value !== decision?.value) continue;
      const id = noteId(dataPoint, round);
      if (!this.#notes.has(id)) this.#notes.set(id, describeSources(value.sources, dataPoint.dataset.kind));
      evidence?.[dataPoint.key.kind].keep(one, round, mine);
    }
    return decided;
  }

  /** Waits for a round that is ahead of the clock, because its value must not be read earlier. */
  async #untilBegun(round: bigint): Promise<void> {
    const ahead = round - this.parts.now();
    if (ahead > 0n) await sleep(Number(ahead) * 1_000);
  }

  /** @throws ProblemError when a round must not be signed for the first time now. */
  #refuseUnsignable(round: bigint, maxAge: bigint): void {
    const { store, now } = this.parts;
    const time = now();
    const position = comparedToWindow(round, time, maxAge);
    if (position === "too_old") throw roundTooOld(round, time);
    if (position === "in_future") throw roundInFuture(round, time);
    if (round <= store.prunedThrough) throw roundForgotten(round, store.prunedThrough);
  }
}

const noteId = ({ id }: DataPoint, round: bigint) => `${round}/${id}`;

/** @throws ProblemError when it is unknown whether a data point has a value. */
function refuseBusy(fresh: readonly FreshValue[]): void {
  const waits: number[] = [];
  const keys: string[] = [];
  for (const { dataPoint, value } of fresh) {
    if (value.kind !== "busy") continue;
    waits.push(value.retryAfter);
    keys.push(dataPoint.key.key);
  }
  if (keys.length > 0) throw sourceBusy(Math.max(...waits), keys);
}
