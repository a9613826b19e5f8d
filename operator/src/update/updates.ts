import type { DataAnswer } from "@dataset-oracle/protocol/http-schemas/data-request";
import { ProblemError } from "@dataset-oracle/service/http-server/problem-error";
import { type Trace, traceFieldsOf } from "@dataset-oracle/service/http-server/trace";
import { type Context, wait } from "@dataset-oracle/service/process/context";
import type { Counter } from "prom-client";
import type { Hex } from "viem";
import type { Dataset } from "../dataset/dataset.js";
import { readStored } from "../dataset/stored-values.js";
import { findUpdate } from "../dataset/update-events.js";
import { GasBudgetSpent, queueFull, shuttingDown, staleRound } from "../problems.js";
import { NoQuorum } from "../reports/quorum.js";
import { readPending } from "../rpc/rpc-error.js";
import { roundAt, roundStartMs } from "../schedule/beat.js";
import {
  type Flight,
  followFlight,
  Progress,
  type ProgressListener,
  type SingleFlight,
  singleFlightOfRounds,
} from "../single-flight.js";
import { FeedGasSpent, type GasCharge } from "../transactions/gas-budget.js";
import {
  AlreadyUnderway,
  type Call,
  type Job,
  type RoundCall,
  SubmissionUnknown,
  type Submitted,
  type Underway,
  type Version,
} from "../transactions/job.js";
import { MAX_QUEUE_MS } from "../transactions/queue.js";
import type { Admission, Senders } from "../transactions/senders.js";
import {
  answerAfter,
  nullAfterTimeout,
  storedOrPending,
  toDataAnswer,
  toStoredAnswer,
  toUnsent,
  type UpdateInFlight,
} from "./answers.js";
import type { BatchUpdate, Update, UpdateBuilder } from "./builder.js";
import { decodePending, keysOfDataPointId, updateJob } from "./jobs.js";

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
/** The age of the oldest round that is looked for among those on their way, in seconds. Few are remembered longer. */
const MAX_JOINED_AGE = 15n;

/** What a job stores, as far as this process has built it. An earlier process's transaction tells only its round. */
type UpdateCall = Update | BatchUpdate | (RoundCall & { readonly kind?: undefined });

/** A failure that concerns only whoever started the work. Whoever joined it goes on with the next. */
class StarterFailed extends Error {
  override readonly name = "StarterFailed";

  constructor(override readonly cause: unknown) {
    super("The work ended for a reason that concerns only whoever started it.");
  }
}

/** The newest round of a key is on its way by another transaction already. */
class RoundTaken extends Error {
  override readonly name = "RoundTaken";

  constructor() {
    super("another transaction of this operator stores the newest round");
  }
}

/** Someone who wants a round of a key on the chain. */
interface Wanted {
  readonly key: Hex;
  readonly isFeed: boolean;
  /** Chooses the round, each time that work can begin. */
  readonly round: () => bigint;
  /** When its own wait for a transaction ends, by the monotonic clock. */
  readonly giveUpAt: number;
  readonly trace: Trace | null;
  readonly listener: ProgressListener;
  /** Finds out what has to be known before work begins. */
  readonly prepare?: () => Promise<void>;
  /** Pays for work that nobody has begun, and returns it. Throws a refusal, which then concerns nobody else. */
  readonly start: (round: bigint) => (progress: Progress) => Promise<UpdateInFlight>;
}

/**
 * Updates the keys of one dataset for requests and feeds. Everyone who asks for a key in one round shares the work, and
 * so no round of a key is ever on its way by two transactions.
 *
 * A broadcast is answered with a stored value that is fresh enough, or by a transaction of this operator. Whoever starts
 * the work pays for it, before anything is built. What concerns only the starter, such as the end of its wait, reaches
 * nobody else: the next who has joined starts again, and pays. Once there is a nonce, all who want that round or an older
 * one wait for its transaction. An update for a caller to send shares its calldata with others of that kind, and gives way
 * to a broadcast of its round.
 */
export class Updates {
  readonly #broadcasts: SingleFlight<UpdateInFlight>;
  /** The running broadcasts that a feed has joined, by their ids. */
  readonly #urgent = new Set<string>();
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
  async broadcast(key: Hex, waitMs: number, { payer, trace, listener }: Caller): Promise<DataAnswer> {
    const fresh = await this.#freshAnswer(key);
    if (fresh !== null) return fresh;
    const { clock } = this.context;
    const giveUpAt = clock.monotonic() + MAX_QUEUE_MS;
    let isNewKey = false;
    const wanted: Wanted = {
      ...{ key, isFeed: false, giveUpAt, trace, listener, round: () => roundAt(clock.now()) },
      prepare: async () => {
        // While the chain cannot be read, nothing is sent either, and building says why.
        isNewKey = !(await this.dataset.storedKeys.has(key).catch(() => false));
      },
      start: (round) => {
        const admission = this.senders.admit(payer, this.#kindOf(1), isNewKey);
        return (progress) => this.#update(key, round, admission, giveUpAt, progress);
      },
    };
    return this.#share(wanted, (update, round) =>
      answerAfter(update, this.dataset, key, round, waitMs, giveUpAt - clock.monotonic(), this.context.closing),
    );
  }

  /**
   * Updates a key for a feed. Requests for the same round share the work. It returns once an RPC endpoint has accepted a
   * transaction.
   *
   * @param batched The outcome of a batch that includes the key: null when it needs a transaction of its own.
   * @throws ProblemError. FeedGasSpent.
   */
  async broadcastForFeed(key: Hex, round: bigint, batched?: Promise<UpdateInFlight | null>): Promise<UpdateInFlight> {
    const { clock, closing } = this.context;
    const giveUpAt = clock.monotonic() + MAX_QUEUE_MS;
    const admit = () => this.senders.admit(null, this.#kindOf(1));
    const start: Wanted["start"] = () => {
      const admission = batched === undefined ? admit() : null;
      return async (progress) => {
        let admitted = admission;
        try {
          const update = await batched;
          if (update) return update;
          admitted ??= admit();
        } catch (error) {
          // What ends a batch, or feeds' gas that is spent after it, need not end a request for one of its keys.
          throw new StarterFailed(error);
        }
        return this.#update(key, round, admitted, giveUpAt, progress);
      };
    };
    const about = { key, isFeed: true, giveUpAt, trace: null, listener: () => {} };
    const wanted: Wanted = { ...about, round: () => round, start };
    const id = roundId(key, round);
    this.#urgent.add(id);
    try {
      return await this.#share(wanted, async (update) => {
        const accepted = await nullAfterTimeout(update.accepted, giveUpAt - clock.monotonic(), closing);
        return accepted && update;
      });
    } finally {
      this.#urgent.delete(id);
    }
  }

  /**
   * Broadcasts keys for feeds in one transaction, without those whose round is on its way. It returns once an RPC endpoint
   * has accepted it.
   *
   * @returns The keys that it is going to store. Every other key needs a transaction of its own.
   * @throws ProblemError when the batch cannot be submitted. FeedGasSpent.
   */
  async broadcastBatch(all: readonly Hex[], round: bigint): Promise<ReadonlyMap<Hex, UpdateInFlight>> {
    const { dataset, builder, senders } = this;
    const keys = all.filter((key) => this.#onItsWay(key, round) === null);
    const [first] = keys;
    if (first === undefined) return new Map();
    const admission = senders.admit(null, this.#kindOf(keys.length));
    const { payer, charge } = admission;
    const update = await orSettle(charge, builder.buildBatch(keys, round));
    if (update === null) {
      charge.settle(0n);
      return new Map();
    }
    const renew = (own: Underway) => this.#renewBatch(keys, own);
    const job = updateJob(dataset, keys, { payer, charge, call: update, renew });
    const { hash, underway } = await this.#enqueue(job, admission, first);
    const stored = [...update.outcomes.keys()];
    this.context.logger.info({ ...this.#logFields(round, hash), keys: stored }, "batch sent");
    return new Map(stored.map((key) => [key, this.#follow(underway as Underway<UpdateCall>, key, round)]));
  }

  /** Joins whatever brings a round of a key on its way, or begins it. */
  async #share<T>(wanted: Wanted, use: (update: UpdateInFlight, round: bigint) => Promise<T | null>): Promise<T> {
    const { clock, closing } = this.context;
    const { key, listener, trace, giveUpAt } = wanted;
    for (;;) {
      let round = wanted.round();
      let flight = this.#onItsWay(key, round);
      let isStarter = false;
      if (flight === null && wanted.prepare !== undefined) {
        await wanted.prepare();
        round = wanted.round();
        flight = this.#onItsWay(key, round);
      }
      if (flight === null) {
        isStarter = true;
        flight = this.#broadcasts.run(roundId(key, round), wanted.start(round), trace);
      }
      let unclear: unknown = null;
      try {
        const used = await followFlight(flight, listener, async (update) => {
          const answer = await use(update, round);
          unclear = update.unclear();
          return answer;
        });
        if (used !== null) return used;
        // It has ended without this round, or its wait is over.
        if (this.#broadcasts.find(roundId(key, round)) === flight) this.#broadcasts.forget(roundId(key, round));
      } catch (error) {
        const isOfStarter = error instanceof StarterFailed || (wanted.isFeed && isOfCallers(error));
        if (!isOfStarter || isStarter) throw error instanceof StarterFailed ? error.cause : error;
      }
      if (closing.aborted) throw shuttingDown();
      if (clock.monotonic() >= giveUpAt) throw unclear ?? queueFull(this.dataset.chainId);
    }
  }

  /** Finds work on a round that others have begun, or a transaction that stores it or a newer one; null where there is none. */
  #onItsWay(key: Hex, round: bigint): Flight<UpdateInFlight> | null {
    const id = roundId(key, round);
    const known = this.#broadcasts.join(id);
    if (known !== undefined) return known;
    const underway = this.#underway(key, round);
    return underway && this.#broadcasts.run(id, async () => this.#follow(underway, key, round));
  }

  /** Finds a job that has a nonce and stores this round of a key or a newer one. */
  #underway(key: Hex, round: bigint): Underway<UpdateCall> | null {
    const stores = ({ dataPointId, call }: Underway<UpdateCall>) =>
      call.round >= round &&
      keysOfDataPointId(this.dataset, dataPointId).includes(key) &&
      (call.kind !== "batch" || call.outcomes.has(key));
    return (this.senders.underway as readonly Underway<UpdateCall>[]).find(stores) ?? null;
  }

  /** Builds the update of one key, and enqueues it unless its round or a newer one is on its way. */
  async #update(
    key: Hex,
    round: bigint,
    admission: Admission,
    giveUpAt: number,
    progress: Progress,
  ): Promise<UpdateInFlight> {
    const { dataset, builder } = this;
    const { payer, charge } = admission;
    const update = await orSettle(charge, builder.build(key, round, progress));
    // Building takes long enough for a newer round to overtake this one. If that one is on its way to the chain, it
    // answers this request too: another transaction would change nothing.
    const findUnderway = () => this.#underway(key, round);
    const other = findUnderway();
    if (other !== null || update.kind === "stale") {
      charge.settle(0n);
      return other === null ? this.#overtaking(key, round) : this.#follow(other, key, round);
    }
    const job = updateJob<Update>(dataset, [key], {
      ...{ payer, charge, giveUpAt, call: update, findUnderway },
      isUrgent: () => this.#urgent.has(roundId(key, round)),
      renew: (own) => this.#renewOne(key, own),
      onSigned: (hash) => progress.emit({ event: "signed", transaction_hash: hash }),
    });
    try {
      const { hash, underway } = await this.#enqueue(job, admission, key);
      const { status, reports } = update;
      const about = { ...traceFieldsOf(progress.trace), ...this.#logFields(round, hash), key };
      this.context.logger.info({ ...about, status, signers: reports.length }, "update sent");
      progress.emit({ event: "sent", transaction_hash: hash });
      return this.#follow(underway, key, round, progress);
    } catch (error) {
      if (error instanceof AlreadyUnderway) return this.#follow(error.other as Underway<UpdateCall>, key, round);
      throw error;
    }
  }

  /** Enqueues a job. What concerns only whoever started it is thrown as `StarterFailed`. */
  async #enqueue<C extends RoundCall>(job: Job<C>, admission: Admission, key: Hex): Promise<Submitted<C>> {
    try {
      return await this.senders.enqueue(job, admission, this.dataset.address, key);
    } catch (error) {
      if (error instanceof SubmissionUnknown) throw error.reason;
      const isOfStarter =
        error instanceof FeedGasSpent ||
        error instanceof GasBudgetSpent ||
        (error instanceof ProblemError && error.code === "queue_full");
      throw isOfStarter ? new StarterFailed(error) : error;
    }
  }

  /**
   * Finds what has overtaken a round. A newer one that this operator is submitting is known here before it is mined;
   * another relayer's is known only from the chain.
   */
  async #overtaking(key: Hex, round: bigint): Promise<UpdateInFlight> {
    const [newer] = this.#roundsSince(key, round + 1n);
    const flight = newer === undefined ? undefined : this.#broadcasts.find(roundId(key, newer));
    return (await flight?.result.catch(() => null)) ?? storedOrPending(this.dataset, key);
  }

  /** Follows a job that stores a round of a key. @param progress Where it is told that it was mined. */
  #follow(job: Underway<UpdateCall>, key: Hex, round: bigint, progress?: Progress): UpdateInFlight {
    const accepted = job.accepted(round).then((version) => version && this.#answerOf(key, version));
    const mined = job.confirmed.then(async (transaction) => {
      if (transaction === null) return this.context.closing.aborted ? null : "not_stored";
      const { isReverted, hasEvents, blockNumber, hash, call } = transaction;
      if (isReverted || !hasEvents || call.round < round) return "not_stored";
      progress?.emit({ event: "mined", transaction_hash: hash, block_number: blockNumber });
      if (call.kind === "update") return this.#answerOf(key, transaction);
      // A batch leaves out the keys of which a newer round was stored before.
      const stored = await readStored(this.dataset, key, "latest");
      return toStoredAnswer(this.dataset, key, stored, stored.updatedAt === call.round ? hash : null);
    });
    // Nobody may be waiting.
    for (const promise of [accepted, mined]) promise.catch(() => {});
    return { accepted, mined, unclear: () => job.unclear };
  }

  /** The answer to who wants a key that a transaction is going to store. */
  async #answerOf(key: Hex, { hash, call }: Version<UpdateCall>): Promise<DataAnswer> {
    const { dataset } = this;
    if (call.kind === "update") return { ...toDataAnswer(dataset, key, call), transaction_hash: hash };
    const outcome = call.kind === "batch" ? call.outcomes.get(key) : undefined;
    if (outcome === undefined) {
      return toStoredAnswer(dataset, key, await readPending((tag) => readStored(dataset, key, tag)), hash);
    }
    const answer = toDataAnswer(dataset, key, { ...outcome, reports: [], round: call.round });
    return { ...answer, transaction_hash: hash };
  }

  /**
   * Builds the newest round for a job that has a nonce, or had one. Whoever wants that round then waits for this job.
   *
   * @param build Gets those of the keys whose newest round is not on its way.
   * @throws RoundTaken when there is none.
   */
  async #renew<C>(
    all: readonly Hex[],
    own: Underway,
    build: (keys: readonly Hex[], round: bigint) => Promise<C | null>,
  ): Promise<C | null> {
    const round = roundAt(this.context.clock.now());
    const isFree = (key: Hex) => this.#broadcasts.find(roundId(key, round)) === undefined;
    const keys = all.filter((key) => isFree(key) && this.#underway(key, round) === null);
    if (keys.length === 0) throw new RoundTaken();
    let release: (none: null) => void = () => {};
    const released = new Promise<null>((resolve) => (release = resolve));
    for (const key of keys) {
      this.#broadcasts.run(roundId(key, round), async () => {
        const update = this.#follow(own as Underway<UpdateCall>, key, round);
        return { ...update, accepted: Promise.race([released, update.accepted]) };
      });
    }
    let call: C | null = null;
    try {
      call = await build(keys, round);
      return call;
    } finally {
      if (call === null) {
        for (const key of keys) this.#broadcasts.forget(roundId(key, round));
        release(null);
      }
    }
  }

  async #renewOne(key: Hex, own: Underway): Promise<Update | null> {
    return this.#renew([key], own, async (_, round) => {
      const update = await this.builder.build(key, round, new Progress(), "latest");
      return update.kind === "stale" ? null : update;
    });
  }

  #renewBatch(keys: readonly Hex[], own: Underway): Promise<BatchUpdate | null> {
    return this.#renew(keys, own, (free, round) => this.builder.buildBatch(free, round, "latest"));
  }

  /**
   * Makes the job of a pending transaction that an earlier process submitted.
   *
   * @returns Null for a transaction that is no update, or whose keys are not known.
   */
  recover(call: Call): Job<RoundCall> | null {
    const pending = decodePending(this.dataset, call);
    if (pending === null) return null;
    const [key, ...more] = pending.keys;
    const isOne = key !== undefined && more.length === 0;
    return updateJob<RoundCall>(this.dataset, pending.keys, {
      ...{ payer: null, charge: this.senders.openCharge(), call: pending.call },
      renew: (own) => (isOne ? this.#renewOne(key, own) : this.#renewBatch(pending.keys, own)),
    });
  }

  /** Updates of as many keys use about the same gas. */
  #kindOf(keys: number): string {
    return `${this.dataset.address} ${keys}`;
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
    const newerRound = this.#roundsSince(key, round).at(-1) ?? this.#underway(key, round)?.call.round;
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
      return { ...toStoredAnswer(dataset, key, stored, hash), fresh: true };
    };
    return this.#fresh.run(roundId(key, roundAt(this.context.clock.now())), find).result;
  }
}

/** Reports whether an update failed because callers have taken all of their places at a provider: feeds have others. */
function isOfCallers(error: unknown): boolean {
  return error instanceof NoQuorum && error.failures.some(({ reason }) => reason === "not_asked");
}

/** Gives reserved gas back if the work fails for which it is reserved. */
async function orSettle<T>(charge: GasCharge, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    charge.settle(0n);
    throw error;
  }
}

/** Identifies the work on a key at one round. */
const roundId = (key: Hex, round: bigint) => `${key} ${round}`;

const maxOf = (a: bigint, b: bigint) => (a > b ? a : b);
