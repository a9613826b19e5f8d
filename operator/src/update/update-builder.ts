import { storedValue } from "@dataset-oracle/protocol/agreed-value";
import {
  encodeUpdate,
  encodeUpdateBatch,
  type SignedRow,
  type SignedValue,
} from "@dataset-oracle/protocol/encode-update";
import type { QueryStatus } from "@dataset-oracle/protocol/query-status";
import { isQuorum } from "@dataset-oracle/protocol/quorum";
import { LRUCache } from "lru-cache";
import { concatHex, type Hex, keccak256 } from "viem";
import type { StoredCommittee } from "../chain/read-committee.js";
import { type DataPoint, roundId } from "../data-point.js";
import type { Dataset } from "../network.js";
import { NoQuorum, unknownKey } from "../problems.js";
import type { Context } from "../process-context.js";
import { Progress } from "../progress.js";
import type { Failure } from "../providers/failure.js";
import { roundAt } from "../round-time.js";
import { followFlight, type SingleFlight, singleFlightOfRounds } from "../single-flight.js";
import type { RoundCall } from "../tx/job.js";
import { agreedValueInBatch } from "./agreed-value-in-batch.js";
import type { Batch } from "./batch.js";
import { gatherReports } from "./gather-reports.js";
import { gatherRows, type RowAnswer } from "./gather-rows.js";
import { decideByQuorum, type ProviderAnswer, reportsOf } from "./quorum-decision.js";
import type { Refused, StaleRound } from "./simulator.js";

/** A call that stores a round of a data point, and that the chain would accept now. */
export interface Update extends RoundCall {
  readonly kind: "update";
  readonly status: QueryStatus;
  /** 32 bytes; zero unless OK. */
  readonly value: Hex;
  readonly reports: readonly SignedValue[];
}

/** A call that stores a round of at least one key of a batch, and that the chain would accept now. */
export interface BatchUpdate extends RoundCall {
  /** One flag for each key, in the batch's order: true if it is going to be stored. */
  readonly isStored: readonly boolean[];
}

/** A batch's update with what its rows say, for the log. */
interface BuiltBatch extends BatchUpdate {
  /** How many of the keys it stores as NOT_AVAILABLE. */
  readonly notAvailable: number;
}

/** After this time, the providers are asked again for a key that they did not serve. */
const REMEMBER_UNKNOWN_KEY_MS = 60_000;
const MAX_UNKNOWN_KEYS = 10_000;

/** Builds updates: gathers a round's reports, decides, and simulates the call. */
export class UpdateBuilder {
  readonly #reports: SingleFlight<readonly ProviderAnswer[]>;
  readonly #rows: SingleFlight<readonly RowAnswer[]>;
  /**
   * Data points that the providers do not serve, with the explanation that callers get. Asking again would use up
   * requests that they allow this operator.
   */
  readonly #unknownKeys = new LRUCache<string, string>({ max: MAX_UNKNOWN_KEYS, ttl: REMEMBER_UNKNOWN_KEY_MS });

  constructor(private readonly context: Context) {
    this.#reports = singleFlightOfRounds(context, "reports");
    this.#rows = singleFlightOfRounds(context, "rows");
  }

  /**
   * Builds the update of a round. If there is no quorum, or the dataset refuses the update, and the committee has
   * changed since it was last read, it tries once more.
   *
   * @param round Seconds since 1970.
   * @throws ProblemError when there is no quorum, a quorum does not serve the key, or the dataset refuses the update.
   */
  async build(dataPoint: DataPoint, round: bigint, progress: Progress): Promise<Update | StaleRound> {
    const explanation = this.#unknownKeys.get(dataPoint.id);
    if (explanation !== undefined) throw unknownKey(explanation);
    const { committee } = dataPoint.dataset;
    const seen = committee.current;
    const first = await this.#tryBuild(dataPoint, round, seen, progress);
    if (first.kind !== "refused") return first;
    // If the RPC fails here, the problem that is known already tells the caller more.
    const isReplaced = await committee.refreshIfReplaced(seen).catch(() => false);
    if (!isReplaced) throw first.problem;
    const second = await this.#tryBuild(dataPoint, round, committee.current, progress);
    if (second.kind === "refused") throw second.problem;
    return second;
  }

  /** Builds the update of the newest round; null when the chain has that round or a newer one. */
  async buildNewest(dataPoint: DataPoint): Promise<Update | null> {
    const update = await this.build(dataPoint, roundAt(this.context.clock()), new Progress());
    return update.kind === "stale" ? null : update;
  }

  /**
   * Builds the update of a batch.
   *
   * @returns Null when the chain would store none of its keys.
   * @throws ProblemError when too few members sign a row, or the dataset refuses the update.
   */
  async buildBatch(batch: Batch): Promise<BuiltBatch | null> {
    const { network, dataset, keys, round } = batch;
    const committee = dataset.committee.current;
    const rows = await this.rowsOf(batch);
    const data = encodeUpdateBatch(dataset.kind, batch, committee, rows);
    const { isStored, gas } = await network.simulator.simulateBatch(dataset.address, data);
    if (!isStored.includes(true)) return null;
    const isNotAvailable = (index: number) =>
      agreedValueInBatch(dataset.kind, committee.members.length, rows, index)?.status === "NOT_AVAILABLE";
    const notAvailable = keys.filter((_, index) => isStored[index] && isNotAvailable(index)).length;
    return { ...roundCall(dataset, round, data, gas), isStored, notAvailable };
  }

  /**
   * Returns the rows of a batch that the committee signed: a quorum or more. Everyone who asks for the same batch
   * shares them.
   *
   * @throws NoQuorum
   */
  async rowsOf(batch: Batch): Promise<readonly SignedRow[]> {
    const { network, dataset, keys, round } = batch;
    const committee = dataset.committee.current;
    const id = keccak256(concatHex([dataset.address, committee.hash, ...keys.map((key) => keccak256(key))]));
    const gather = () => gatherRows(this.context, batch, committee);
    const flightId = `${network.chainId} ${id} ${round}`;
    const answers = await this.#rows.run(flightId, gather).result;
    const rows = answers.filter((answer) => answer.kind === "row");
    const members = committee.members.length;
    if (isQuorum(rows.length, members - rows.length)) return rows;
    this.#rows.forget(flightId);
    const failures = answers.filter((answer) => answer.kind !== "row");
    throw new NoQuorum(members, `${rows.length} signed a row of the batch`, failures);
  }

  async #tryBuild(
    dataPoint: DataPoint,
    round: bigint,
    committee: StoredCommittee,
    progress: Progress,
  ): Promise<Update | StaleRound | Refused> {
    const { network, dataset, key } = dataPoint;
    const id = `${roundId(dataPoint, round)} ${committee.hash}`;
    const gather = (gathering: Progress) => gatherReports(this.context, dataPoint, round, committee, gathering);
    const flight = this.#reports.run(id, gather, progress.trace);
    const answers = await followFlight(
      flight,
      (step) => progress.emit(step),
      (all) => all,
    );

    const members = committee.members.length;
    const decision = decideByQuorum(members, answers);
    if (decision.kind !== "update") {
      this.#reports.forget(id);
      const failures = answers.filter((answer) => answer.kind !== "report");
      if (decision.kind === "no_quorum") {
        const [values, noData] = [reportsOf("OK", answers).length, reportsOf("NOT_AVAILABLE", answers).length];
        const signed = `${values} signed a value and ${noData} signed that there is none`;
        return { kind: "refused", problem: new NoQuorum(members, signed, failures) };
      }
      const explanation = explainUnknownKey(dataPoint, failures);
      this.#unknownKeys.set(dataPoint.id, explanation);
      throw unknownKey(explanation, failures);
    }
    const { outcome, reports } = decision;
    const data = encodeUpdate(dataset.kind, { key, round }, committee, outcome, reports);
    const simulation = await network.simulator.simulateUpdate(dataset.address, key, outcome, data);
    if (simulation.kind === "refused") this.#reports.forget(id);
    if (simulation.kind !== "ok") return simulation;
    const { status, gas } = simulation;
    const value = storedValue(dataset.kind, status, reports);
    return { kind: "update", ...roundCall(dataset, round, data, gas), status, value, reports };
  }
}

/** Says what the providers answered about a key that they do not serve, and what can be done about it. */
function explainUnknownKey(dataPoint: DataPoint, failures: readonly Failure[]): string {
  const counts = new Map<string, number>();
  for (const { detail } of failures) counts.set(detail, (counts.get(detail) ?? 0) + 1);
  const answers = [...counts].map(([detail, count]) => `${count} × "${detail}"`);
  return `The data providers' answers: ${answers.join(", ")}.${unknownKeyFix(dataPoint, failures)}`;
}

/** Says what can make the providers serve a key, as a sentence after another; empty if nothing is known to. */
function unknownKeyFix({ dataset, key }: DataPoint, failures: readonly Failure[]): string {
  const refusals = failures.filter(({ refuses }) => refuses === "key");
  const unknown = refusals.filter(({ code }) => code === "unknown_key");
  // The other codes say themselves what is wrong. A few members can lag behind the others.
  if (2 * unknown.length <= refusals.length) return "";
  if (dataset.keyForm === "WEB_ORACLE") return " A Web Oracle key is served once its request spec is published.";
  return dataset.keys.includes(key) ? "" : " GET /datasets, under the operator's base URL, lists the known keys.";
}

function roundCall({ address, maxRoundAge }: Dataset, round: bigint, data: Hex, gas: bigint): RoundCall {
  return { to: address, data, gas, round, expiresAt: expiryOf(round, maxRoundAge) };
}

/** Returns when a dataset starts to refuse a round, in milliseconds since 1970. */
export function expiryOf(round: bigint, maxRoundAge: bigint): number {
  return Number(round + maxRoundAge) * 1000;
}
