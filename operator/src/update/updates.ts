import type { DataAnswer } from "@dataset-oracle/protocol/http-schemas/data-request";
import { type Trace, traceFieldsOf } from "@dataset-oracle/service/http-server/trace";
import { type Context, wait } from "@dataset-oracle/service/process/context";
import type { Counter } from "prom-client";
import type { Hex } from "viem";
import type { Dataset } from "../dataset/dataset.js";
import { readManyStored, readStored } from "../dataset/stored-values.js";
import { findUpdate } from "../dataset/update-events.js";
import { GasBudgetSpent, staleRound } from "../problems.js";
import { readPending } from "../rpc/rpc-error.js";
import { roundAt, roundStartMs } from "../schedule/beat.js";
import {
  followFlight,
  type Progress,
  type ProgressListener,
  type SingleFlight,
  singleFlightOfRounds,
} from "../single-flight.js";
import { FeedGasSpent } from "../transactions/gas-budget.js";
import type { Senders } from "../transactions/senders.js";
import {
  answerAfter,
  MAX_MINING_WAIT_MS,
  nullAfterTimeout,
  storedOrPending,
  toDataAnswer,
  toStoredAnswer,
  toUnsent,
  type UpdateInFlight,
} from "./answers.js";
import type { BatchUpdate, Update, UpdateBuilder } from "./builder.js";
import { keysOfDataPointId, updateJob } from "./jobs.js";

/** The request that waits for an update. */
export interface Caller {
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

/** Another transaction stores this round or a newer one: `newerRound`, in seconds since 1970. */
interface Overtaken {
  readonly kind: "overtaken";
  readonly newerRound: bigint;
}

/** A transaction for the caller to send. */
type Prepared = { readonly kind: "prepared"; readonly answer: DataAnswer } | Overtaken;

/** How many rounds are tried for a caller's own transaction when other relayers keep being faster. */
const MAX_ROUNDS_TRIED = 3;
const MAX_ROUND_WAIT_MS = 3_000;
/** How many times a broadcast is tried again when the caller whose work it shared has used its share of the gas. */
const MAX_OTHER_PAYERS = 5;
/** The age of the oldest round that is looked for among those on their way, in seconds. Few are remembered longer. */
const MAX_JOINED_AGE = 15n;

/**
 * Updates the keys of one dataset for requests and feeds. Everyone who asks for a key in one round shares the work.
 *
 * A broadcast is answered with a stored value that is fresh enough, or by a transaction of this operator. The caller who
 * starts a transaction pays for it. Where that caller's share of the gas, or the feeds', is spent, those who joined start
 * again, and one of them pays. An update for a caller to send shares its calldata with others of that kind, and gives
 * way to a broadcast of its round.
 */
export class Updates {
  readonly #broadcasts: SingleFlight<UpdateInFlight>;
  readonly #prepared: SingleFlight<Prepared>;
  /** Stored values that are fresh enough to need no update; null where one is needed. */
  readonly #fresh: SingleFlight<DataAnswer | null>;

  constructor(
    private readonly dataset: Dataset,
    private readonly builder: UpdateBuilder,
    readonly senders: Senders,
    private readonly settings: UpdateSettings,
    private readonly context: Pick<Context, "clock" | "logger" | "closing">,
    coalesced: Counter<"work">,
  ) {
    const { clock } = context;
    this.#broadcasts = singleFlightOfRounds(clock, coalesced, "broadcast");
    this.#prepared = singleFlightOfRounds(clock, coalesced, "unsent");
    this.#fresh = singleFlightOfRounds(clock, coalesced, "fresh");
  }

  /**
   * Updates a key by a transaction from one of the operator's accounts.
   *
   * @param waitMs How long to wait until it is mined; 0 answers once an RPC endpoint has accepted it.
   * @throws ProblemError
   */
  async broadcast(key: Hex, waitMs: number, caller: Caller): Promise<DataAnswer> {
    const { closing } = this.context;
    const fresh = await this.#freshAnswer(key);
    if (fresh !== null) return fresh;
    for (let tried = 1; ; tried++) {
      const round = roundAt(this.context.clock.now());
      try {
        const flight = this.#broadcasts.run(
          roundId(key, round),
          (progress) => this.#update(key, round, caller.payer, progress),
          caller.trace,
        );
        const toAnswer = (update: UpdateInFlight) => answerAfter(update, this.dataset, key, round, waitMs, closing);
        return await followFlight(flight, caller.listener, toAnswer);
      } catch (error) {
        // A feed or another caller started this work, and its own gas is spent.
        const isBudgetOfAnother =
          error instanceof FeedGasSpent ||
          (error instanceof GasBudgetSpent && error.payer !== null && error.payer !== caller.payer);
        if (!isBudgetOfAnother || tried > MAX_OTHER_PAYERS) throw error;
      }
    }
  }

  /**
   * Updates a key for a feed. Requests for the same round share the work.
   *
   * @param batched The outcome of a batch that includes the key: null when it needs a transaction of its own.
   * @throws ProblemError. FeedGasSpent.
   */
  broadcastForFeed(key: Hex, round: bigint, batched?: Promise<UpdateInFlight | null>): Promise<UpdateInFlight> {
    const update = async (progress: Progress) => (await batched) ?? (await this.#update(key, round, null, progress));
    return this.#broadcasts.run(roundId(key, round), update).result;
  }

  /**
   * Updates keys for feeds in one transaction, and waits until it is mined.
   *
   * @returns The keys that it stored, or will store: the queue goes on with a transaction that is not mined in time. Every
   * other key needs a transaction of its own.
   * @throws ProblemError when the batch cannot be submitted. FeedGasSpent.
   */
  async broadcastBatch(keys: readonly Hex[], round: bigint): Promise<ReadonlyMap<Hex, UpdateInFlight>> {
    const { dataset, builder } = this;
    const [first] = keys;
    const update = await builder.buildBatch(keys, round);
    if (update === null || first === undefined) return new Map();
    const job = updateJob(dataset, keys, null, update, () => builder.buildNewestBatch(keys));
    const { hash, confirmed } = await this.senders.enqueue(job, dataset.address, first);
    const storedBy = ({ isStored }: BatchUpdate) => keys.filter((_, index) => isStored[index]);
    this.context.logger.info({ ...this.#logFields(round, hash), keys: storedBy(update) }, "batch sent");
    const mined = await nullAfterTimeout(confirmed, MAX_MINING_WAIT_MS, this.context.closing);
    if (mined?.isReverted) return new Map();
    const last = mined ?? { hash, call: update };
    const stored = await readPending((blockTag) => readManyStored(dataset, storedBy(last.call), blockTag));
    return new Map(
      [...stored].map(([key, point]) => {
        // Another transaction may have stored a newer round.
        const transaction = point.updatedAt === last.call.round ? last.hash : null;
        return [key, { answer: toStoredAnswer(dataset, key, point, transaction), mined: Promise.resolve(null) }];
      }),
    );
  }

  /** Builds the update of one key, and enqueues it unless a newer round is on its way. */
  async #update(key: Hex, round: bigint, payer: string | null, progress: Progress): Promise<UpdateInFlight> {
    const update = await this.builder.build(key, round, progress);
    // Building takes long enough for a newer round to overtake this one. If that one is on its way to the chain, it
    // answers this request too: another transaction would change nothing.
    const newer = this.#roundsSince(key, round + 1n).map((each) => roundId(key, each));
    const submitted = newer.map((id) => this.#broadcasts.done(id)).find((each) => each !== undefined);
    if (submitted !== undefined) return submitted;
    if (update.kind !== "stale") return this.#enqueue(key, update, payer, progress);
    // A newer one that this operator is submitting is known here before it is mined; another relayer's is known only
    // from the chain.
    const overtaking = newer[0] === undefined ? undefined : this.#broadcasts.find(newer[0]);
    return (await overtaking?.result.catch(() => null)) ?? storedOrPending(this.dataset, key);
  }

  /** Enqueues an update. It returns once an RPC endpoint has accepted its transaction. */
  async #enqueue(key: Hex, update: Update, payer: string | null, progress: Progress): Promise<UpdateInFlight> {
    const { dataset, builder } = this;
    const onSigned = (hash: Hex) => progress.emit({ event: "signed", transaction_hash: hash });
    const job = updateJob(dataset, [key], payer, update, () => builder.buildNewest(key), onSigned);
    const isNewKey = payer !== null && !(await dataset.storedKeys.has(key));
    const { hash, confirmed } = await this.senders.enqueue(job, dataset.address, key, isNewKey ? "new" : "stored");
    const { round, status, reports } = update;
    const about = { ...traceFieldsOf(progress.trace), ...this.#logFields(round, hash), key };
    this.context.logger.info({ ...about, status, signers: reports.length }, "update sent");
    progress.emit({ event: "sent", transaction_hash: hash });
    const answerOf = (stored: Update, transaction_hash: Hex) => ({
      ...toDataAnswer(dataset, key, stored),
      transaction_hash,
    });
    return {
      answer: answerOf(update, hash),
      mined: confirmed.then((transaction) => {
        if (transaction === null) return null;
        const { isReverted, hasEvents, blockNumber, call } = transaction;
        if (isReverted || !hasEvents) return "not_stored";
        progress.emit({ event: "mined", transaction_hash: transaction.hash, block_number: blockNumber });
        return answerOf(call, transaction.hash);
      }),
    };
  }

  #logFields(round: bigint, transaction: Hex) {
    const { chainId, address } = this.dataset;
    return { network: chainId, dataset: address, round: round.toString(), transaction };
  }

  /** The keys whose update is in a sender's queue, for whomever it was made; by an earlier process, too. */
  get keysInQueues(): ReadonlySet<Hex> {
    const all = this.senders.queues.flatMap(({ dataPointIds }) => dataPointIds);
    return new Set(all.flatMap((id) => keysOfDataPointId(this.dataset, id)));
  }

  /**
   * Builds an update transaction for the caller to send.
   *
   * @throws ProblemError
   */
  async prepare(key: Hex, caller: Caller): Promise<DataAnswer> {
    const { clock, closing } = this.context;
    for (let tried = 1; ; tried++) {
      const prepared = await this.#prepareRound(key, roundAt(clock.now()), caller);
      if (prepared.kind === "prepared") return prepared.answer;
      // The transaction has to be usable, so its round must be newer than what is stored.
      if (tried === MAX_ROUNDS_TRIED) throw staleRound(prepared.newerRound);
      const untilNewerMs = Math.max(0, roundStartMs(prepared.newerRound + 1n) - clock.now());
      await wait(Math.min(untilNewerMs, MAX_ROUND_WAIT_MS), closing);
      if (closing.aborted) throw staleRound(prepared.newerRound);
    }
  }

  /** Returns the transaction of this round if it has been built already; null when the caller has to wait for it. */
  preparedAnswer(key: Hex): DataAnswer | null {
    const id = roundId(key, roundAt(this.context.clock.now()));
    if (this.#broadcasts.find(id) !== undefined) return null;
    const prepared = this.#prepared.done(id);
    return prepared?.kind === "prepared" ? prepared.answer : null;
  }

  async #prepareRound(key: Hex, round: bigint, caller: Caller): Promise<Prepared> {
    const overtaken = this.#overtakenBy(key, round);
    if (overtaken !== null) return overtaken;
    const prepare = async (progress: Progress): Promise<Prepared> => {
      const update = await this.builder.build(key, round, progress);
      if (update.kind === "stale") {
        const { updatedAt } = await readPending((blockTag) => readStored(this.dataset, key, blockTag));
        // Nodes that do not know the pending state may answer with an older one.
        return { kind: "overtaken", newerRound: maxOf(updatedAt, round) };
      }
      const answer = { ...toDataAnswer(this.dataset, key, update), ...toUnsent(this.dataset.chainId, update) };
      return { kind: "prepared", answer };
    };
    const flight = this.#prepared.run(roundId(key, round), prepare, caller.trace);
    return followFlight(flight, caller.listener, async (prepared) => this.#overtakenBy(key, round) ?? prepared);
  }

  /** Finds a broadcast of this round or a newer one: the caller's own transaction would come too late. */
  #overtakenBy(key: Hex, round: bigint): Overtaken | null {
    const newerRound = this.#roundsSince(key, round).at(-1);
    return newerRound === undefined ? null : { kind: "overtaken", newerRound };
  }

  /** Lists the rounds that are being broadcast, or were just now, from `round` on; the oldest first. */
  #roundsSince(key: Hex, round: bigint): readonly bigint[] {
    const newest = roundAt(this.context.clock.now());
    const rounds: bigint[] = [];
    for (let each = maxOf(round, newest - MAX_JOINED_AGE); each <= newest; each++) {
      if (this.#broadcasts.find(roundId(key, each)) !== undefined) rounds.push(each);
    }
    return rounds;
  }

  /** Answers with the stored value if the network is configured to, and the value is young enough. */
  #freshAnswer(key: Hex): Promise<DataAnswer | null> {
    const { minUpdateAgeSeconds } = this.settings;
    if (minUpdateAgeSeconds === 0) return Promise.resolve(null);
    const { dataset } = this;
    const find = async (): Promise<DataAnswer | null> => {
      const stored = await readStored(dataset, key, "latest");
      const { status, updatedAt } = stored;
      const expiresAt = (Number(updatedAt) + minUpdateAgeSeconds) * 1000;
      if (status !== "OK" || this.context.clock.now() >= expiresAt) return null;
      const hash = await findUpdate(dataset, key, updatedAt);
      return hash === null ? null : { ...toStoredAnswer(dataset, key, stored, hash), fresh: true };
    };
    return this.#fresh.run(roundId(key, roundAt(this.context.clock.now())), find).result;
  }
}

/** Identifies the work on a key at one round. */
const roundId = (key: Hex, round: bigint) => `${key} ${round}`;

const maxOf = (a: bigint, b: bigint) => (a > b ? a : b);
