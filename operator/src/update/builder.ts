import { storedValue } from "@dataset-oracle/protocol/agreed-value";
import { encodeUpdate, encodeUpdateBatch, type SignedRow } from "@dataset-oracle/protocol/encode-update";
import { encodeUpdateCall } from "@dataset-oracle/protocol/update-call";
import type { Clock } from "@dataset-oracle/service/process/context";
import { LRUCache } from "lru-cache";
import type { Counter } from "prom-client";
import { type Address, concatHex, type Hex, keccak256 } from "viem";
import type { StoredCommittee } from "../dataset/committee.js";
import { UpdateReverted } from "../dataset/contract.js";
import type { Dataset } from "../dataset/dataset.js";
import type { Failure } from "../reports/failures.js";
import { KEY_REFUSALS } from "../reports/providers.js";
import {
  decideByQuorum,
  NoQuorum,
  outcomeInBatch,
  type ReportOrFailure,
  reachesQuorum,
  reportsOf,
} from "../reports/quorum.js";
import type { ReportSource, RowOrFailure } from "../reports/report-source.js";
import { RpcError } from "../rpc/rpc-error.js";
import { type Progress, type SingleFlight, singleFlightOfRounds } from "../single-flight.js";
import type { CallOutcome, RoundCall } from "../transactions/task.js";
import type { CallState, DryRun, StaleRound } from "./dry-run.js";

/** The update of one key, with a call that the chain would accept now. */
export interface KeyUpdate {
  readonly kind: "update";
  readonly call: RoundCall;
  /** The packed update that the call hands to the dataset. */
  readonly packed: Hex;
  readonly outcome: CallOutcome;
}

/** A quorum of the data providers does not serve a key. */
export class KeyNotServed extends Error {
  /**
   * @param explanation What the providers answered, and what can be done about it.
   * @param failures Their answers; null when they were not asked again.
   */
  constructor(
    readonly explanation: string,
    readonly failures: readonly Failure[] | null = null,
  ) {
    super(`The data providers do not serve this key. ${explanation}`);
    this.name = "KeyNotServed";
  }
}

/** After this time, the providers are asked again for a key that they did not serve. */
const REMEMBER_UNKNOWN_KEY_MS = 60_000;
const MAX_UNKNOWN_KEYS = 10_000;
const MAX_REASONS = 3;

/** Builds the updates of one dataset: gathers a round's reports, decides, and simulates the call. */
export class UpdateBuilder {
  readonly #reports: SingleFlight<readonly ReportOrFailure[]>;
  readonly #rows: SingleFlight<readonly SignedRow[]>;
  /**
   * Keys that the providers do not serve, with the explanation that callers get. Asking again would use up requests that
   * they allow this operator.
   */
  readonly #unknownKeys = new LRUCache<Hex, string>({ max: MAX_UNKNOWN_KEYS, ttl: REMEMBER_UNKNOWN_KEY_MS });

  constructor(
    private readonly dataset: Dataset,
    private readonly source: ReportSource,
    private readonly dryRun: DryRun,
    clock: Clock,
    coalesced: Counter<"work">,
  ) {
    this.#reports = singleFlightOfRounds(clock, coalesced, "reports");
    this.#rows = singleFlightOfRounds(clock, coalesced, "rows");
  }

  /**
   * Builds the update of a round. If there is no quorum, or the dataset refuses the update, and the committee has
   * changed since it was last read, it tries once more.
   *
   * @param round Seconds since 1970.
   * @param state What it is simulated on: `latest` where the pending block can hold the transaction that it replaces.
   * @throws NoQuorum. KeyNotServed. UpdateReverted. RpcError.
   */
  async build(
    key: Hex,
    round: bigint,
    progress: Progress,
    state: CallState = "pending",
  ): Promise<KeyUpdate | StaleRound> {
    this.#throwIfUnknown(key);
    const { committee } = this.dataset;
    const seen = committee.current;
    try {
      return await this.#tryBuild(key, round, seen, progress, state);
    } catch (error) {
      // If the RPC fails here, the error that is known already tells the caller more.
      const isReplaced = isRefusal(error) && (await committee.refreshIfReplaced(seen).catch(() => false));
      if (!isReplaced) throw error;
      return this.#tryBuild(key, round, committee.current, progress, state);
    }
  }

  /**
   * Builds the update of a batch.
   *
   * @param keys 1 to 256.
   * @param round Seconds since 1970.
   * @returns Null when the chain would store none of its keys.
   * @throws NoQuorum. UpdateReverted. RpcError.
   */
  async buildBatch(keys: readonly Hex[], round: bigint, state: CallState = "pending"): Promise<RoundCall | null> {
    const { kind, address, committee } = this.dataset;
    const { current } = committee;
    const rows = await this.rowsForUpdate(keys, round);
    const data = encodeUpdateCall(encodeUpdateBatch(kind, { keys, round }, current, rows));
    const { isStored, isRefused, gas } = await this.dryRun.batch(address, data, state);
    if (!isStored.includes(true)) return null;
    // A key is also in the call if it has a newer round in the state of a node, and the next node may know of none. What is
    // refused is built by itself, which says why.
    const outcomes = new Map<Hex, CallOutcome>();
    for (const [index, key] of keys.entries()) {
      const outcome = isRefused[index] ? null : outcomeInBatch(kind, current, rows, index);
      if (outcome !== null) outcomes.set(key, { ...outcome, reports: [] });
    }
    return this.#roundCall(round, data, gas, outcomes);
  }

  /**
   * Returns the rows of a batch that the committee signed, a quorum or more, with every report that can be had. Everyone who
   * asks for the same batch shares them.
   *
   * @throws NoQuorum. KeyNotServed when the batch is a single key.
   */
  rowsForUpdate(keys: readonly Hex[], round: bigint): Promise<readonly SignedRow[]> {
    const { current } = this.dataset.committee;
    const batch = keccak256(concatHex([current.hash, ...keys.map((key) => keccak256(key))]));
    const gather = async () => {
      return this.#requireQuorum(keys, current, await this.source.gatherRows(keys, round, current));
    };
    return this.#rows.run(`${batch} ${round}`, gather).result;
  }

  /**
   * As `rowsForUpdate`, for the turns of those of a better rank: it ends early, and nobody shares it.
   *
   * @param awaited Those of a better rank.
   */
  async rowsForTurns(
    keys: readonly Hex[],
    round: bigint,
    awaited: ReadonlySet<Address>,
  ): Promise<readonly SignedRow[]> {
    const { current } = this.dataset.committee;
    return this.#requireQuorum(keys, current, await this.source.gatherRowsForTurns(keys, round, current, awaited));
  }

  #requireQuorum(
    keys: readonly Hex[],
    { members: { length: members } }: StoredCommittee,
    answers: readonly RowOrFailure[],
  ): readonly SignedRow[] {
    const single = keys.length === 1 ? keys[0] : undefined;
    const rows = answers.filter((answer) => answer.kind === "row");
    if (reachesQuorum(rows.length, members)) {
      // The owner's own keys are asked for at every beat, so that they are fresh as soon as they are served.
      if (single !== undefined) this.#unknownKeys.delete(single);
      return rows;
    }
    const failures = answers.filter((answer) => answer.kind !== "row");
    if (single !== undefined && decideByQuorum(members, failures).kind === "unknown_key") {
      throw this.#notServed(single, failures);
    }
    throw new NoQuorum(members, `${rows.length} signed a row of the batch`, failures);
  }

  async #tryBuild(
    key: Hex,
    round: bigint,
    committee: StoredCommittee,
    progress: Progress,
    state: CallState,
  ): Promise<KeyUpdate | StaleRound> {
    const { dataset } = this;
    const ofCallers = `${key} ${round} ${committee.hash}`;
    const own = `${ofCallers} own`;
    // The operator's own questions do not wait for the places of callers, who can share them nevertheless. It shares theirs
    // once these are answered: a caller's update can have failed since, for want of gas.
    const isOwn = progress.trace === null && this.#reports.done(ofCallers) === undefined;
    const id = isOwn || this.#reports.find(own) !== undefined ? own : ofCallers;
    const flight = this.#reports.run(id, (steps) => this.#gather(key, round, committee, steps), progress.trace);
    const unfollow = flight.progress.follow((step) => progress.emit(step));
    const answers = await flight.result.finally(unfollow);

    const members = committee.members.length;
    const decision = decideByQuorum(members, answers);
    if (decision.kind !== "update") {
      this.#reports.forget(id);
      const failures = answers.filter((answer) => answer.kind !== "report");
      if (decision.kind === "no_quorum") {
        const [values, none] = [reportsOf("OK", answers), reportsOf("NOT_AVAILABLE", answers)];
        const reasons = [...new Set(none.flatMap(({ reason }) => reason ?? []))].slice(0, MAX_REASONS);
        const why = reasons.length === 0 ? "" : ` (${reasons.join("; ")})`;
        const signed = `${values.length} signed a value and ${none.length} signed that there is none${why}`;
        throw new NoQuorum(members, signed, failures);
      }
      throw this.#notServed(key, failures);
    }
    const { reports } = decision;
    const packed = encodeUpdate(dataset.kind, { key, round }, committee, decision.outcome, reports);
    const data = encodeUpdateCall(packed);
    const executed = await this.dryRun
      .update(dataset.address, decision.outcome, data, state)
      .catch((error: unknown) => {
        if (isRefusal(error)) this.#reports.forget(id);
        throw error;
      });
    if (executed.kind !== "ok") return executed;
    const { status, gas } = executed;
    const outcome = { status, value: storedValue(dataset.kind, status, reports), reports };
    return { kind: "update", packed, outcome, call: this.#roundCall(round, data, gas, new Map([[key, outcome]])) };
  }

  #throwIfUnknown(key: Hex): void {
    const explanation = this.#unknownKeys.get(key);
    if (explanation !== undefined) throw new KeyNotServed(explanation);
  }

  /** Remembers that the providers do not serve a key. */
  #notServed(key: Hex, failures: readonly Failure[]): KeyNotServed {
    const explanation = explainUnknownKey(this.dataset, key, failures);
    this.#unknownKeys.set(key, explanation);
    return new KeyNotServed(explanation, failures);
  }

  /** Gathers the reports of a round, and tells how far it is. */
  #gather(
    key: Hex,
    round: bigint,
    committee: StoredCommittee,
    progress: Progress,
  ): Promise<readonly ReportOrFailure[]> {
    const { members } = committee;
    progress.emit({ event: "asked", timestamp: Number(round), providers: [...members] });
    let received = 0;
    return this.source.gatherReports(key, round, committee, progress.trace, ({ provider, outcome }) => {
      received += 1;
      progress.emit({ event: "report", provider, outcome, received, of: members.length });
    });
  }

  #roundCall(round: bigint, data: Hex, gas: bigint, outcomes: ReadonlyMap<Hex, CallOutcome>): RoundCall {
    const { address, maxRoundAge } = this.dataset;
    return { to: address, data, gas, round, expiresAt: expiryOf(round, maxRoundAge), outcomes };
  }
}

/** Reports whether an update failed for a reason that another committee may not have. */
function isRefusal(error: unknown): boolean {
  const isRefused = error instanceof RpcError && error.kind === "refused";
  return isRefused || error instanceof NoQuorum || error instanceof UpdateReverted;
}

/** Returns when a dataset starts to refuse a round, in milliseconds since 1970. */
export function expiryOf(round: bigint, maxRoundAge: bigint): number {
  return Number(round + maxRoundAge) * 1000;
}

/** Says what the providers answered about a key that they do not serve, and what can be done about it. */
function explainUnknownKey(dataset: Dataset, key: Hex, failures: readonly Failure[]): string {
  const counts = new Map<string, number>();
  for (const { detail } of failures) counts.set(detail, (counts.get(detail) ?? 0) + 1);
  const answers = [...counts].map(([detail, count]) => `${count} × "${detail}"`);
  return `The data providers' answers: ${answers.join(", ")}. ${unknownKeyFix(dataset, key, failures)}`;
}

/** Says what can make the providers serve a key. If they refuse it for different reasons, most of them are right. */
function unknownKeyFix({ keyForm, keys }: Dataset, key: Hex, failures: readonly Failure[]): string {
  const codes = failures.flatMap(({ code, refuses }) => (refuses === "key" && code !== null ? [code] : []));
  const countOf = (code: string) => codes.filter((each) => each === code).length;
  const [code = "unknown_key"] = codes.toSorted((a, b) => countOf(b) - countOf(a));
  if (code === "unknown_key") {
    if (keyForm === "WEB_ORACLE") return "A Web Oracle key is served once its request spec is published.";
    if (keys.listed.includes(key)) return "This operator lists the key, so tell the operator's owner.";
  }
  return KEY_REFUSALS[code] ?? "";
}
