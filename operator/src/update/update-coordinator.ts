import { setTimeout as delay } from "node:timers/promises";
import type { ForwardedAnswer } from "@dataset-oracle/protocol/http-schemas/between-nodes";
import type { DataAnswer } from "@dataset-oracle/protocol/http-schemas/data-request";
import type { Trace } from "@dataset-oracle/service/http-server/trace";
import { numberToHex } from "viem";
import { readStored } from "../chain/stored-values.js";
import { findUpdates } from "../chain/update-events.js";
import { type DataPoint, roundId } from "../data-point.js";
import { FeedGasSpent } from "../gas-budget.js";
import { GasBudgetSpent, staleRound } from "../problems.js";
import type { Context } from "../process-context.js";
import type { Progress, ProgressListener } from "../progress.js";
import { msUntilRoundAfter, roundAt } from "../round-time.js";
import { type Flight, followFlight, type SingleFlight, singleFlightOfRounds } from "../single-flight.js";
import type { Call } from "../tx/job.js";
import { toDataAnswer } from "./data-answer.js";
import { sendUpdate } from "./send-update.js";
import type { SentUpdate } from "./sent-update.js";
import { storedOrPending } from "./stored-or-pending.js";
import type { UpdateBuilder } from "./update-builder.js";
import { answerAfter } from "./wait-until-mined.js";

/** The request that waits for an update. */
export interface Caller {
  /** The caller, as rate limits identify it: its share of the gas budget pays. */
  readonly payer: string;
  /** Null where no request is behind it. */
  readonly trace: Trace | null;
  readonly listener: ProgressListener;
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
/** How long a round that another node has sent is followed, in milliseconds. */
const MAX_FOLLOWED_MS = 600_000;
/** The age of the oldest round that is looked for among those on their way, in seconds. Few are remembered longer. */
const MAX_JOINED_AGE = 15n;

/**
 * Updates data points for requests and feeds. Everyone who asks for a data point in one round shares the work.
 *
 * A broadcast takes the first of three ways that gives an answer: a stored value that is fresh enough (`#freshAnswer`),
 * the node whose turn it is to send (`#byOtherNode`), a transaction of its own (`#bySelf`). Each has its own
 * single-flight, so callers share only what ends in the same way; feeds, and requests that another node forwarded, join
 * the last one. An update for a caller to send shares its calldata with others of that kind, and gives way to a
 * broadcast of its round. The caller who starts a transaction pays for it. Where that caller's share of the gas, or the
 * feeds', is spent, those who joined start again, and one of them pays.
 */
export class UpdateCoordinator {
  readonly #sends: SingleFlight<SentUpdate>;
  /**
   * The updates that other nodes made; null where this one has to. They are kept apart from those that this node sends,
   * so that two nodes never wait for each other.
   */
  readonly #forwards: SingleFlight<SentUpdate | null>;
  readonly #prepared: SingleFlight<Prepared>;
  /** Stored values that are fresh enough to need no update; null where one is needed. */
  readonly #fresh: SingleFlight<DataAnswer | null>;
  /** The newest round of each data point that another node has sent, until it is stored; in seconds since 1970. */
  readonly #followed = new Map<string, bigint>();

  constructor(
    private readonly context: Context,
    private readonly builder: UpdateBuilder,
  ) {
    this.#sends = singleFlightOfRounds(context, "broadcast");
    this.#forwards = singleFlightOfRounds(context, "forwarded");
    this.#prepared = singleFlightOfRounds(context, "unsent");
    this.#fresh = singleFlightOfRounds(context, "fresh");
  }

  /**
   * Updates a data point by a transaction from one of the operator's accounts.
   *
   * @param waitMs How long to wait until it is mined; 0 answers once an RPC endpoint has accepted it.
   * @throws ProblemError
   */
  async broadcast(dataPoint: DataPoint, waitMs: number, caller: Caller): Promise<DataAnswer> {
    const fresh = await this.#freshAnswer(dataPoint);
    if (fresh !== null) return fresh;
    const toAnswer = (sentUpdate: SentUpdate, round: bigint) => answerAfter(sentUpdate, dataPoint, round, waitMs);
    return (await this.#byOtherNode(dataPoint, caller, toAnswer)) ?? this.#bySelf(dataPoint, caller, toAnswer);
  }

  /**
   * Updates a data point for another node, which has forwarded a request. It is not forwarded again.
   *
   * @param wanted The oldest round that will do. One that is on its way already is not sent again.
   * @throws ProblemError
   */
  async broadcastForwarded(dataPoint: DataPoint, wanted: bigint, caller: Caller): Promise<ForwardedAnswer> {
    const fresh = await this.#freshAnswer(dataPoint);
    if (fresh !== null) return { answer: fresh, transaction: null };
    return this.#bySelf(dataPoint, caller, ({ answer, raw }) => ({ answer, transaction: raw }), wanted);
  }

  /** @returns Null when this node has to update the data point itself. */
  async #byOtherNode<T>(
    dataPoint: DataPoint,
    caller: Caller,
    use: (sentUpdate: SentUpdate, round: bigint) => Promise<T>,
  ): Promise<T | null> {
    const { forwarding } = dataPoint.network;
    if (forwarding === null) return null;
    const round = roundAt(this.context.clock());
    const forward = async (progress: Progress) => {
      const sentUpdate = await forwarding.forward(dataPoint, progress);
      if (sentUpdate !== null && sentUpdate.raw !== null) {
        void this.#follow(dataPoint, BigInt(sentUpdate.answer.timestamp), caller.payer);
      }
      return sentUpdate;
    };
    const flight = this.#forwards.run(roundId(dataPoint, round), forward, caller.trace);
    return followFlight(flight, caller.listener, (sentUpdate) => sentUpdate && use(sentUpdate, round));
  }

  /**
   * Makes sure that a round that another node has sent is stored, because this node has answered a caller with it: if
   * the chain does not have it in time, this node sends a newer one. The other node's process may have ended.
   *
   * @param payer The caller who pays if this node has to send one.
   */
  async #follow(dataPoint: DataPoint, round: bigint, payer: string): Promise<void> {
    const { clock, closing } = this.context;
    const { id, network, dataset, key } = dataPoint;
    const isFollowed = this.#followed.has(id);
    this.#followed.set(id, round);
    if (isFollowed) return;
    const giveUpAt = clock() + MAX_FOLLOWED_MS;
    // It has to be seen twice, because a reorganization can drop it.
    for (let seen = 0; seen < 2 && clock() < giveUpAt; ) {
      await delay(network.settings.stuckSeconds * 1000, undefined, { signal: closing }).catch(() => {});
      if (closing.aborted) return;
      try {
        const { updatedAt } = await readStored(network.client, dataset.address, key, "latest");
        seen = updatedAt >= (this.#followed.get(id) ?? round) ? seen + 1 : 0;
        if (seen === 0) await this.#send(dataPoint, roundAt(clock()), payer, null).result;
      } catch {
        seen = 0;
      }
    }
    this.#followed.delete(id);
  }

  async #bySelf<T>(
    dataPoint: DataPoint,
    caller: Caller,
    use: (sentUpdate: SentUpdate, round: bigint) => T | Promise<T>,
    wanted?: bigint,
  ): Promise<T> {
    for (let tried = 1; ; tried++) {
      const round = this.#sentSince(dataPoint, wanted) ?? roundAt(this.context.clock());
      try {
        const flight = this.#send(dataPoint, round, caller.payer, caller.trace);
        return await followFlight(flight, caller.listener, (sentUpdate) => use(sentUpdate, round));
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
   * Updates a data point for a feed. Requests for the same round share the work.
   *
   * @param batched The outcome of a batch that includes this data point: null when it has to be sent by itself.
   */
  sendForFeed(dataPoint: DataPoint, round: bigint, batched?: Promise<SentUpdate | null>): Promise<SentUpdate> {
    return this.#send(dataPoint, round, null, null, batched).result;
  }

  #send(
    dataPoint: DataPoint,
    round: bigint,
    payer: string | null,
    trace: Trace | null,
    batched?: Promise<SentUpdate | null>,
  ): Flight<SentUpdate> {
    const send = async (progress: Progress) => {
      const sentUpdate = await batched;
      if (sentUpdate) return sentUpdate;
      const update = await this.builder.build(dataPoint, round, progress);
      // Building takes long enough for a newer round to overtake this one. If that one is on its way to the chain, it
      // answers this request too: another transaction would change nothing.
      const newer = this.#roundsSince(dataPoint, round + 1n).map((each) => roundId(dataPoint, each));
      const sent = newer.map((id) => this.#sends.done(id)).find((each) => each !== undefined);
      if (sent !== undefined) return sent;
      if (update.kind === "stale") return this.#overtaking(dataPoint, newer[0]);
      return sendUpdate(this.context, this.builder, dataPoint, update, payer, progress);
    };
    return this.#sends.run(roundId(dataPoint, round), send, trace);
  }

  /**
   * Finds the update that made a round stale. A newer one that this operator is sending is known here before it is
   * mined; another relayer's is known only from the chain.
   */
  async #overtaking(dataPoint: DataPoint, newerId: string | undefined): Promise<SentUpdate> {
    const newer = newerId === undefined ? null : this.#sends.find(newerId);
    return (await newer?.result.catch(() => null)) ?? storedOrPending(dataPoint);
  }

  isOnItsWay(dataPoint: DataPoint, round: bigint): boolean {
    return this.#sends.has(roundId(dataPoint, round));
  }

  /**
   * Builds an update transaction for the caller to send.
   *
   * @throws ProblemError
   */
  async prepare(dataPoint: DataPoint, caller: Caller): Promise<DataAnswer> {
    const { clock, closing } = this.context;
    for (let tried = 1; ; tried++) {
      const prepared = await this.#prepareRound(dataPoint, roundAt(clock()), caller);
      if (prepared.kind === "prepared") return prepared.answer;
      // The transaction has to be usable, so its round must be newer than what is stored.
      if (tried === MAX_ROUNDS_TRIED) throw staleRound(prepared.newerRound);
      const wait = Math.min(msUntilRoundAfter(prepared.newerRound, clock()), MAX_ROUND_WAIT_MS);
      await delay(wait, undefined, { signal: closing }).catch(() => {
        throw staleRound(prepared.newerRound);
      });
    }
  }

  /** Returns the transaction of this round if it has been built already; null when the caller has to wait for it. */
  preparedAnswer(dataPoint: DataPoint): DataAnswer | null {
    const id = roundId(dataPoint, roundAt(this.context.clock()));
    if (this.#sends.has(id)) return null;
    const prepared = this.#prepared.done(id);
    return prepared?.kind === "prepared" ? prepared.answer : null;
  }

  async #prepareRound(dataPoint: DataPoint, round: bigint, caller: Caller): Promise<Prepared> {
    const overtaken = this.#overtakenBy(dataPoint, round);
    if (overtaken !== null) return overtaken;
    const prepare = async (progress: Progress): Promise<Prepared> => {
      const update = await this.builder.build(dataPoint, round, progress);
      if (update.kind === "stale") return { kind: "overtaken", newerRound: await this.#storedRound(dataPoint, round) };
      const unsent = toUnsent(dataPoint.network.chainId, update);
      return { kind: "prepared", answer: { ...toDataAnswer(dataPoint, update), ...unsent } };
    };
    const flight = this.#prepared.run(roundId(dataPoint, round), prepare, caller.trace);
    return followFlight(flight, caller.listener, async (prepared) => this.#overtakenBy(dataPoint, round) ?? prepared);
  }

  /** Finds a broadcast of this round or a newer one: the caller's own transaction would come too late. */
  #overtakenBy(dataPoint: DataPoint, round: bigint): Overtaken | null {
    const newerRound = this.#sentSince(dataPoint, round);
    return newerRound === null ? null : { kind: "overtaken", newerRound };
  }

  /** Finds the newest round that is being sent, or was just now, if it is at least `round`. */
  #sentSince(dataPoint: DataPoint, round: bigint | undefined): bigint | null {
    return round === undefined ? null : (this.#roundsSince(dataPoint, round).at(-1) ?? null);
  }

  /** Lists the rounds that are being sent, or were just now, from `round` on; the oldest first. */
  #roundsSince(dataPoint: DataPoint, round: bigint): readonly bigint[] {
    const newest = roundAt(this.context.clock());
    const rounds: bigint[] = [];
    for (let each = maxOf(round, newest - MAX_JOINED_AGE); each <= newest; each++) {
      if (this.isOnItsWay(dataPoint, each)) rounds.push(each);
    }
    return rounds;
  }

  /** Reads the stored round. Nodes that do not know the pending state may answer with one older than `atLeast`. */
  async #storedRound({ network, dataset, key }: DataPoint, atLeast: bigint): Promise<bigint> {
    const { updatedAt } = await readStored(network.client, dataset.address, key, "pending");
    return updatedAt > atLeast ? updatedAt : atLeast;
  }

  /** Answers with the stored value if the network is configured to, and the value is young enough. */
  #freshAnswer(dataPoint: DataPoint): Promise<DataAnswer | null> {
    const { client, settings } = dataPoint.network;
    const { minUpdateAgeSeconds } = settings;
    if (minUpdateAgeSeconds === 0) return Promise.resolve(null);
    const find = async (): Promise<DataAnswer | null> => {
      const { address } = dataPoint.dataset;
      const { output, status, updatedAt } = await readStored(client, address, dataPoint.key, "latest");
      const expiresAt = (Number(updatedAt) + minUpdateAgeSeconds) * 1000;
      if (status !== "OK" || this.context.clock() >= expiresAt) return null;
      const hash = (await findUpdates(client, address, new Map([[dataPoint.key, updatedAt]]))).get(dataPoint.key);
      if (hash === undefined) return null;
      const answer = toDataAnswer(dataPoint, { value: output, status, round: updatedAt, reports: [] });
      return { ...answer, transaction_hash: hash, fresh: true };
    };
    return this.#fresh.run(roundId(dataPoint, roundAt(this.context.clock())), find).result;
  }
}

const maxOf = (a: bigint, b: bigint) => (a > b ? a : b);

/** Formats a call for the caller to send: once as nodes take it, and once as libraries do. */
function toUnsent(
  chainId: number,
  { to, data, gas }: Call,
): Required<Pick<DataAnswer, "transaction" | "transaction_request">> {
  const [hex, number] = [numberToHex(gas), Number(gas)];
  return {
    transaction: { chainId: numberToHex(chainId), to, data, value: "0x0", gas: hex, gasLimit: hex },
    transaction_request: { chainId, to, data, value: 0, gas: number, gasLimit: number },
  };
}
