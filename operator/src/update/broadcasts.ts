import { decodeUpdateCall } from "@dataset-oracle/protocol/update-call";
import { type Trace, traceFieldsOf } from "@dataset-oracle/service/http-server/trace";
import type { Context } from "@dataset-oracle/service/process/context";
import type { Counter } from "prom-client";
import type { Hex } from "viem";
import type { Dataset } from "../dataset/dataset.js";
import { readManyStored, readStored } from "../dataset/stored-values.js";
import { NoQuorum } from "../reports/quorum.js";
import { readPending } from "../rpc/rpc-error.js";
import { roundAt } from "../schedule/beat.js";
import {
  type Flight,
  followFlight,
  Progress,
  type ProgressListener,
  type SingleFlight,
  singleFlightOfRounds,
} from "../single-flight.js";
import type { GasCharge } from "../transactions/gas-budget.js";
import { isNotSent, NotSent } from "../transactions/not-sent.js";
import { MAX_QUEUE_MS } from "../transactions/queue.js";
import type { Admission, Senders } from "../transactions/senders.js";
import {
  AlreadyUnderway,
  type ContractCall,
  type RoundCall,
  type Subject,
  SubmissionUnknown,
  Task,
  type Version,
  type Work,
} from "../transactions/task.js";
import { nullAfterTimeout, type RoundAnswer, storedAnswer, storedOrPending, type UpdateInFlight } from "./answers.js";
import { expiryOf, type UpdateBuilder } from "./builder.js";

/** The age of the oldest round that is looked for among those on their way, in seconds. Few are remembered longer. */
const MAX_JOINED_AGE = 15n;

/** A failure that concerns only whoever started the work. Whoever joined it goes on with the next. */
class StarterFailed extends Error {
  override readonly name = "StarterFailed";

  constructor(override readonly cause: unknown) {
    super("The work ended for a reason that concerns only whoever started it.");
  }
}

function failStarter(cause: unknown): never {
  throw new StarterFailed(cause);
}

/** The newest round of a key is on its way by another transaction already. */
class RoundTaken extends Error {
  override readonly name = "RoundTaken";

  constructor() {
    super("another transaction of this operator stores the newest round");
  }
}

/** Someone who wants a round of a key on the chain. */
export interface Wanted {
  readonly key: Hex;
  /** Chooses the round, each time that work can begin. */
  readonly round: () => bigint;
  /** The caller whose share of the gas budget pays; null for the operator itself. */
  readonly payer: string | null;
  readonly trace: Trace | null;
  readonly listener: ProgressListener;
  /** The outcome of a batch that includes the key: null when it needs a transaction of its own. */
  readonly batched?: Promise<UpdateInFlight | null> | undefined;
}

/**
 * Broadcasts the keys of one dataset. Everyone who wants a key in one round shares the work, and so no round of a key is ever
 * on its way by two transactions.
 *
 * Whoever starts the work pays for it, before anything is built. What concerns only the starter, such as the end of its wait,
 * reaches nobody else: the next who has joined starts again, and pays. Once there is a nonce, all who want that round or an
 * older one wait for its transaction.
 */
export class Broadcasts {
  readonly #flights: SingleFlight<UpdateInFlight>;
  /** Those that the operator itself waits for, by their ids. */
  readonly #own = new Set<string>();

  constructor(
    private readonly dataset: Dataset,
    private readonly builder: UpdateBuilder,
    readonly senders: Senders,
    coalesced: Counter<"work">,
    private readonly context: Pick<Context, "clock" | "logger" | "closing">,
  ) {
    this.#flights = singleFlightOfRounds(context.clock, coalesced, "broadcast");
  }

  /**
   * Joins whatever brings a round of a key on its way, or begins it.
   *
   * @param use Gets the update, its round, and for how long whoever wants it still waits. It returns null where that update
   * has ended without the round: then the next one is begun.
   * @throws NotSent. What keeps it from being built.
   */
  async broadcast<T>(
    wanted: Wanted,
    use: (update: UpdateInFlight, round: bigint, leftMs: number) => Promise<T | null>,
  ): Promise<T> {
    const { clock, closing } = this.context;
    const { key, payer, trace, listener } = wanted;
    const giveUpAt = clock.monotonic() + MAX_QUEUE_MS;
    for (;;) {
      let round = wanted.round();
      let flight = this.#onItsWay(key, round);
      let isNewKey = false;
      if (flight === null && payer !== null) {
        // While the chain cannot be read, nothing is sent either, and building says why.
        isNewKey = !(await this.dataset.storedKeys.has(key).catch(() => false));
        round = wanted.round();
        flight = this.#onItsWay(key, round);
      }
      const isStarter = flight === null;
      flight ??= this.#flights.run(roundId(key, round), this.#begin(wanted, round, giveUpAt, isNewKey), trace);
      let unclear: unknown = null;
      try {
        const used = await followFlight(flight, listener, async (update) => {
          const answer = await use(update, round, giveUpAt - clock.monotonic());
          unclear = update.unclear();
          return answer;
        });
        if (used !== null) return used;
        // It has ended without this round, or its wait is over.
        if (this.#flights.find(roundId(key, round)) === flight) this.#flights.forget(roundId(key, round));
      } catch (error) {
        const isOfStarter = error instanceof StarterFailed || (payer === null && isOfCallers(error));
        if (!isOfStarter || isStarter) throw error instanceof StarterFailed ? error.cause : error;
      }
      const { chainId } = this.dataset;
      if (closing.aborted) throw new NotSent(chainId, { kind: "shutting_down" });
      if (clock.monotonic() >= giveUpAt) throw unclear ?? new NotSent(chainId, { kind: "queue_full" });
    }
  }

  /**
   * Broadcasts a round of a key for the operator itself. Callers who want the same round share the work. It returns once an
   * RPC endpoint has accepted a transaction.
   *
   * @throws NotSent. What keeps it from being built.
   */
  async broadcastOwn(key: Hex, round: bigint, batched?: Wanted["batched"]): Promise<UpdateInFlight> {
    const wanted = { key, round: () => round, payer: null, trace: null, listener: () => {}, batched };
    const id = roundId(key, round);
    this.#own.add(id);
    try {
      return await this.broadcast(wanted, async (update, _, leftMs) => {
        return (await nullAfterTimeout(update.accepted, leftMs, this.context.closing)) && update;
      });
    } finally {
      this.#own.delete(id);
    }
  }

  /**
   * Broadcasts keys for the operator itself in one transaction, without those whose round is on its way. It returns once an
   * RPC endpoint has accepted it.
   *
   * @returns The keys that it is going to store. Every other key needs a transaction of its own.
   * @throws NotSent. What keeps it from being built.
   */
  async broadcastBatch(all: readonly Hex[], round: bigint): Promise<ReadonlyMap<Hex, UpdateInFlight>> {
    const keys = all.filter((key) => this.#onItsWay(key, round) === null);
    if (keys.length === 0) return new Map();
    const admission = this.senders.admit(null, this.#kindOf(keys.length));
    const { charge } = admission;
    const call = await orSettle(charge, this.builder.buildBatch(keys, round));
    if (call === null) {
      charge.settle(0n);
      return new Map();
    }
    const work = this.#workOf(keys, { payer: null, charge, call });
    const task = new Task(work, this.context.clock.monotonic() + MAX_QUEUE_MS);
    const { hash } = await this.#enqueue(task, admission);
    const stored = [...(call.outcomes?.keys() ?? [])];
    this.context.logger.info({ ...this.#logFields(round, hash), keys: stored }, "batch sent");
    return new Map(stored.map((key) => [key, this.#follow(task, key, round)]));
  }

  /**
   * Makes the work of a pending transaction that an earlier process submitted.
   *
   * @returns Null for a transaction that is no update, or whose keys are not known.
   */
  recover(call: ContractCall): Work | null {
    const { dataset } = this;
    const pending = decodeUpdateCall(call.data);
    if (pending === null) return null;
    const { round } = pending;
    const keys = pending.kind === "batch" ? dataset.keys.ofHashes(pending.keyHashes) : [pending.key];
    if (keys === null || keys.length === 0) return null;
    const promised = { ...call, round, expiresAt: expiryOf(round, dataset.maxRoundAge) };
    return this.#workOf(keys, { payer: null, charge: this.senders.openCharge(), call: promised });
  }

  /** The keys whose update is in a sender's queue, for whomever it was made; by an earlier process, too. */
  get keysInQueues(): ReadonlySet<Hex> {
    return new Set(this.senders.tasks.flatMap(({ work }) => this.#keysOf(work.subject)));
  }

  /** Reports whether a round of a key is being broadcast, or was just now. */
  has(key: Hex, round: bigint): boolean {
    return this.#flights.find(roundId(key, round)) !== undefined;
  }

  /** Finds the newest round from `round` on that is on its way, or has just been stored; null if none is. */
  newestSince(key: Hex, round: bigint): bigint | null {
    return this.#roundsSince(key, round).at(-1) ?? this.#underway(key, round)?.newest.round ?? null;
  }

  /** Pays for work that nobody has begun, and returns it. Throws a refusal, which then concerns nobody else. */
  #begin({ key, payer, batched }: Wanted, round: bigint, giveUpAt: number, isNewKey: boolean) {
    const admit = () => this.senders.admit(payer, this.#kindOf(1), isNewKey);
    if (batched === undefined) {
      const admission = admit();
      return (progress: Progress) => this.#update(key, round, admission, giveUpAt, progress);
    }
    return async (progress: Progress): Promise<UpdateInFlight> => {
      // What ends a batch, or gas that is spent after it, need not end a request for one of its keys.
      const stored = await batched.then((update) => update ?? admit()).catch(failStarter);
      return "mined" in stored ? stored : this.#update(key, round, stored, giveUpAt, progress);
    };
  }

  /** Finds work on a round that others have begun, or a transaction that stores it or a newer one; null where there is none. */
  #onItsWay(key: Hex, round: bigint): Flight<UpdateInFlight> | null {
    const id = roundId(key, round);
    const known = this.#flights.join(id);
    if (known !== undefined) return known;
    const underway = this.#underway(key, round);
    return underway && this.#flights.run(id, async () => this.#follow(underway, key, round));
  }

  /** Finds a task that has a nonce and stores this round of a key or a newer one. */
  #underway(key: Hex, round: bigint): Task | null {
    const stores = ({ newest, work }: Task) =>
      newest.round >= round && this.#keysOf(work.subject).includes(key) && newest.outcomes?.has(key) !== false;
    return this.senders.underway.find(stores) ?? null;
  }

  /** Returns which of this dataset's keys a task updates. */
  #keysOf({ dataset, keys, accused }: Subject): readonly Hex[] {
    return dataset === this.dataset.address && accused === null ? keys : [];
  }

  /** Lists the rounds that are being broadcast, or were just now, from `round` on; the oldest first. */
  #roundsSince(key: Hex, round: bigint): readonly bigint[] {
    const newest = roundAt(this.context.clock.now());
    const rounds: bigint[] = [];
    const oldest = newest - MAX_JOINED_AGE;
    for (let each = round > oldest ? round : oldest; each <= newest; each++) if (this.has(key, each)) rounds.push(each);
    return rounds;
  }

  /** Builds the update of one key, and enqueues it unless its round or a newer one is on its way. */
  async #update(
    key: Hex,
    round: bigint,
    admission: Admission,
    giveUpAt: number,
    progress: Progress,
  ): Promise<UpdateInFlight> {
    const { payer, charge } = admission;
    const update = await orSettle(charge, this.builder.build(key, round, progress));
    // Building takes long enough for a newer round to overtake this one. If that one is on its way to the chain, it
    // answers this request too: another transaction would change nothing.
    const findUnderway = () => this.#underway(key, round);
    const other = findUnderway();
    if (other !== null || update.kind === "stale") {
      charge.settle(0n);
      return other === null ? this.#overtaking(key, round) : this.#follow(other, key, round);
    }
    const { call, outcome } = update;
    const work = this.#workOf([key], {
      payer,
      charge,
      call,
      findUnderway,
      isUrgent: () => this.#own.has(roundId(key, round)),
      onSigned: (hash) => progress.emit({ event: "signed", transaction_hash: hash }),
    });
    const task = new Task(work, giveUpAt);
    try {
      const { hash } = await this.#enqueue(task, admission);
      const about = { ...traceFieldsOf(progress.trace), ...this.#logFields(round, hash), key };
      this.context.logger.info({ ...about, status: outcome.status, signers: outcome.reports.length }, "update sent");
      progress.emit({ event: "sent", transaction_hash: hash });
      return this.#follow(task, key, round, progress);
    } catch (error) {
      if (error instanceof AlreadyUnderway) return this.#follow(error.other, key, round);
      throw isNotSent(error, "gas_spent", "queue_full") ? new StarterFailed(error) : error;
    }
  }

  /** Makes the work of an update of one key or more, with what its caller adds. */
  #workOf(keys: readonly Hex[], work: Omit<Work, "subject" | "renew" | "isStored">): Work {
    const { dataset } = this;
    const isStored = async (round: bigint) => {
      const stored = await readManyStored(dataset, keys, "latest");
      return [...stored.values()].every(({ updatedAt }) => updatedAt >= round);
    };
    const subject = { dataset: dataset.address, keys, accused: null };
    return { ...work, subject, isStored, renew: (own) => this.#renew(keys, own) };
  }

  #enqueue(task: Task, admission: Admission): Promise<Version> {
    return this.senders.enqueue(task, admission).catch((error) => {
      throw error instanceof SubmissionUnknown ? error.reason : error;
    });
  }

  /**
   * Finds what has overtaken a round. A newer one that this operator is submitting is known here before it is mined;
   * another relayer's is known only from the chain.
   */
  async #overtaking(key: Hex, round: bigint): Promise<UpdateInFlight> {
    const [newer] = this.#roundsSince(key, round + 1n);
    const flight = newer === undefined ? undefined : this.#flights.find(roundId(key, newer));
    return (await flight?.result.catch(() => null)) ?? storedOrPending(this.dataset, key);
  }

  /** Follows a task that stores a round of a key. @param progress Where it is told that it was mined. */
  #follow(task: Task, key: Hex, round: bigint, progress?: Progress): UpdateInFlight {
    const accepted = task.accepted(round).then((version) => version && this.#answerOf(key, version));
    const mined = task.confirmed.then(async (transaction) => {
      if (transaction === null) return this.context.closing.aborted ? null : "not_stored";
      const { isReverted, hasEvents, blockNumber, hash, call } = transaction;
      if (isReverted || !hasEvents || call.round < round) return "not_stored";
      progress?.emit({ event: "mined", transaction_hash: hash, block_number: blockNumber });
      if (task.work.subject.keys.length === 1 && call.outcomes !== undefined) return this.#answerOf(key, transaction);
      // A batch leaves out the keys of which a newer round was stored before.
      const stored = await readStored(this.dataset, key, "latest");
      return storedAnswer(stored, stored.updatedAt === call.round ? hash : null);
    });
    // Nobody may be waiting.
    for (const promise of [accepted, mined]) promise.catch(() => {});
    return { accepted, mined, unclear: () => task.unclear };
  }

  /** The answer to who wants a key that a transaction is going to store. */
  async #answerOf(key: Hex, { hash, call }: Version): Promise<RoundAnswer> {
    const outcome = call.outcomes?.get(key);
    if (outcome !== undefined) return { round: call.round, outcome, transaction: hash };
    return storedAnswer(await readPending((tag) => readStored(this.dataset, key, tag)), hash);
  }

  /**
   * Builds the newest round for a task that has a nonce, or had one. Whoever wants that round then waits for this task.
   *
   * @throws RoundTaken when the newest round of each key is on its way.
   */
  async #renew(all: readonly Hex[], own: Task): Promise<RoundCall | null> {
    const round = roundAt(this.context.clock.now());
    const keys = all.filter((key) => !this.has(key, round) && this.#underway(key, round) === null);
    if (keys.length === 0) throw new RoundTaken();
    let release: (none: null) => void = () => {};
    const released = new Promise<null>((resolve) => (release = resolve));
    for (const key of keys) {
      this.#flights.run(roundId(key, round), async () => {
        const update = this.#follow(own, key, round);
        return { ...update, accepted: Promise.race([released, update.accepted]) };
      });
    }
    let call: RoundCall | null = null;
    try {
      call = await this.#build(all.length === 1, keys, round);
      return call;
    } finally {
      if (call === null) {
        for (const key of keys) this.#flights.forget(roundId(key, round));
        release(null);
      }
    }
  }

  /** Builds a call in place of one that can be pending, and that has the same form. */
  async #build(isOne: boolean, keys: readonly Hex[], round: bigint): Promise<RoundCall | null> {
    const [key] = keys;
    if (!isOne || key === undefined) return this.builder.buildBatch(keys, round, "latest");
    const update = await this.builder.build(key, round, new Progress(), "latest");
    return update.kind === "stale" ? null : update.call;
  }

  /** Updates of as many keys use about the same gas. */
  #kindOf(keys: number): string {
    return `${this.dataset.address} ${keys}`;
  }

  #logFields(round: bigint, transaction: Hex) {
    const { chainId, address } = this.dataset;
    return { network: chainId, dataset: address, round: round.toString(), transaction };
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
