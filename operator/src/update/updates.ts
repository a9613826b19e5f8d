import type { Trace } from "@dataset-oracle/service/http-server/trace";
import { type Context, wait } from "@dataset-oracle/service/process/context";
import type { Counter } from "prom-client";
import type { Hex } from "viem";
import type { Dataset } from "../dataset/dataset.js";
import { readStored } from "../dataset/stored-values.js";
import { findUpdate } from "../dataset/update-events.js";
import { readPending } from "../rpc/rpc-error.js";
import { roundAt, roundStartMs } from "../schedule/beat.js";
import {
  followFlight,
  type Progress,
  type ProgressListener,
  type SingleFlight,
  singleFlightOfRounds,
} from "../single-flight.js";
import { answerAfter, type RoundAnswer, storedAnswer } from "./answers.js";
import type { Broadcasts } from "./broadcasts.js";
import type { KeyUpdate, UpdateBuilder } from "./builder.js";

/** The request that waits for an update. */
export interface Requester {
  /** The caller, as rate limits identify it: its share of the gas budget pays. */
  readonly payer: string;
  /** Null where no request is behind it. */
  readonly trace: Trace | null;
  readonly listener: ProgressListener;
}

export interface UpdateSettings {
  /** A stored value younger than this answers a broadcast, and nothing is submitted; 0 turns this off. */
  readonly minUpdateAgeSeconds: number;
}

/** Another transaction stores the round that a caller wants to store, or a newer one. */
export class Overtaken extends Error {
  override readonly name = "Overtaken";

  /** @param newerRound In seconds since 1970. */
  constructor(readonly newerRound: bigint) {
    super(`Round ${newerRound} is stored or pending.`);
  }
}

/** A round for the caller to send. */
interface Prepared extends RoundAnswer {
  readonly transaction: KeyUpdate;
}

/** How many rounds are tried for a caller's own transaction when other relayers keep being faster. */
const MAX_ROUNDS_TRIED = 3;
const MAX_ROUND_WAIT_MS = 3_000;
/**
 * Answers requests for the keys of one dataset: a broadcast with a stored value that is fresh enough or by a transaction of
 * this operator, and otherwise by a transaction for the caller to send. Callers share the calldata of the latter, which gives
 * way to a broadcast of its round.
 */
export class Updates {
  readonly #prepared: SingleFlight<Prepared | Overtaken>;
  /** Stored values that are fresh enough to need no update; null where one is needed. */
  readonly #fresh: SingleFlight<RoundAnswer | null>;

  constructor(
    private readonly dataset: Dataset,
    private readonly builder: UpdateBuilder,
    private readonly broadcasts: Broadcasts,
    coalesced: Counter<"work">,
    private readonly context: Pick<Context, "clock" | "closing">,
    private readonly settings: UpdateSettings,
  ) {
    this.#prepared = singleFlightOfRounds(context.clock, coalesced, "unsent");
    this.#fresh = singleFlightOfRounds(context.clock, coalesced, "fresh");
  }

  /**
   * Updates a key by a transaction from one of the operator's accounts.
   *
   * @param waitMs How long to wait until it is mined; 0 answers once an RPC endpoint has accepted it.
   * @throws NotSent. What keeps it from being built.
   */
  async broadcast(key: Hex, waitMs: number, caller: Requester): Promise<RoundAnswer> {
    const { clock, closing } = this.context;
    const fresh = await this.#freshAnswer(key);
    if (fresh !== null) return fresh;
    const wanted = { ...caller, key, round: () => roundAt(clock.now()) };
    return this.broadcasts.broadcast(wanted, (update, round, leftMs) =>
      answerAfter(update, this.dataset, key, round, waitMs, leftMs, closing),
    );
  }

  /**
   * Builds an update transaction for the caller to send.
   *
   * @throws Overtaken while other relayers keep being faster. What keeps it from being built.
   */
  async prepare(key: Hex, caller: Requester): Promise<Prepared> {
    const { clock, closing } = this.context;
    for (let tried = 1; ; tried++) {
      const prepared = await this.#prepareRound(key, roundAt(clock.now()), caller);
      if (!(prepared instanceof Overtaken)) return prepared;
      // The transaction has to be usable, so its round must be newer than what is stored.
      if (tried === MAX_ROUNDS_TRIED) throw prepared;
      const untilNewerMs = Math.max(0, roundStartMs(prepared.newerRound + 1n) - clock.now());
      await wait(Math.min(untilNewerMs, MAX_ROUND_WAIT_MS), closing);
      if (closing.aborted) throw prepared;
    }
  }

  /** Returns the transaction of this round if it has been built already; null when the caller has to wait for it. */
  preparedAnswer(key: Hex): Prepared | null {
    const round = roundAt(this.context.clock.now());
    if (this.broadcasts.has(key, round)) return null;
    const prepared = this.#prepared.done(roundId(key, round));
    return prepared === undefined || prepared instanceof Overtaken ? null : prepared;
  }

  async #prepareRound(key: Hex, round: bigint, caller: Requester): Promise<Prepared | Overtaken> {
    const overtaken = this.#overtakenBy(key, round);
    if (overtaken !== null) return overtaken;
    const prepare = async (progress: Progress): Promise<Prepared | Overtaken> => {
      const update = await this.builder.build(key, round, progress);
      if (update.kind === "stale") {
        const { updatedAt } = await readPending((blockTag) => readStored(this.dataset, key, blockTag));
        // Nodes that do not know the pending state may answer with an older one.
        return new Overtaken(updatedAt > round ? updatedAt : round);
      }
      return { round, outcome: update.outcome, transaction: update };
    };
    const flight = this.#prepared.run(roundId(key, round), prepare, caller.trace);
    return followFlight(flight, caller.listener, async (prepared) => this.#overtakenBy(key, round) ?? prepared);
  }

  /** Finds a broadcast of this round or a newer one: the caller's own transaction would come too late. */
  #overtakenBy(key: Hex, round: bigint): Overtaken | null {
    const newerRound = this.broadcasts.newestSince(key, round);
    return newerRound === null ? null : new Overtaken(newerRound);
  }

  /** Answers with the stored value if the network is configured to, and the value is young enough. */
  #freshAnswer(key: Hex): Promise<RoundAnswer | null> {
    const { minUpdateAgeSeconds } = this.settings;
    if (minUpdateAgeSeconds === 0) return Promise.resolve(null);
    const { dataset } = this;
    const find = async (): Promise<RoundAnswer | null> => {
      const stored = await readStored(dataset, key, "latest");
      const { status, updatedAt } = stored;
      const expiresAt = (Number(updatedAt) + minUpdateAgeSeconds) * 1000;
      if (status !== "OK" || this.context.clock.now() >= expiresAt) return null;
      const hash = await findUpdate(dataset, key, updatedAt);
      return { ...storedAnswer(stored, hash), isFresh: true };
    };
    return this.#fresh.run(roundId(key, roundAt(this.context.clock.now())), find).result;
  }
}

/** Identifies the work on a key at one round. */
const roundId = (key: Hex, round: bigint) => `${key} ${round}`;
