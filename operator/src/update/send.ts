import type { DataAnswer } from "@dataset-oracle/protocol/http-schemas/data-request";
import { traceFieldsOf } from "@dataset-oracle/service/http-server/trace";
import { type Address, concatHex, type Hex } from "viem";
import { readStored } from "../chain/stored-values.js";
import { findUpdate } from "../chain/update-events.js";
import type { DataPoint } from "../data-point.js";
import { FeedGasSpent } from "../gas-budget.js";
import type { Network } from "../network.js";
import { GasBudgetSpent, noSender, updateReverted } from "../problems.js";
import type { Context } from "../process-context.js";
import type { Progress } from "../progress.js";
import { rankedFor } from "../rendezvous.js";
import { type Job, OutcomeUnknown, type RoundCall, type Sent } from "../tx/job.js";
import type { TransactionQueue } from "../tx/queue.js";
import { toAnswer, type Update, type UpdateBuilder } from "./update-builder.js";

/** The longest that anyone waits until a transaction is mined. */
export const MAX_WAIT_MS = 60_000;

/** A mined update of this operator. */
export interface MinedUpdate {
  readonly answer: DataAnswer;
  /** False if it reverted, or changed nothing because another relayer's update was mined before it. */
  readonly isStored: boolean;
}

/** An update that is on its way to the chain, sent by this operator, by another node for it, or by another relayer. */
export interface SentUpdate {
  readonly answer: DataAnswer;
  /** The signed transaction; null when another relayer sent it, and when it is a batch's. */
  readonly raw: Hex | null;
  /** The mined update, of this round or a newer one; null when none is mined, and when another relayer sent it. */
  readonly mined: Promise<MinedUpdate | null>;
}

/**
 * Sends an update from one of the operator's accounts, within the gas budgets. It returns once an RPC endpoint has accepted
 * the transaction.
 *
 * @param payer The caller whose share of the gas budget pays for it; null for a feed.
 * @throws ProblemError when the gas budget is spent, or no RPC endpoint accepts the transaction. FeedGasSpent.
 */
export async function sendUpdate(
  context: Context,
  builder: UpdateBuilder,
  dataPoint: DataPoint,
  update: Update,
  payer: string | null,
  progress: Progress,
): Promise<SentUpdate> {
  const { network, dataset, key } = dataPoint;
  const queue = queueFor(network, dataset.address, key);
  const release = await reserveGas(context, dataPoint, update.gas, payer);
  const onSigned = (hash: Hex) => progress.emit({ event: "signed", transaction_hash: hash });
  const job = updateJob(dataPoint, payer, update, () => builder.buildNewest(dataPoint), onSigned);
  const { hash, raw, confirmed } = await submit(queue, job, release);
  const { round, status, reports } = update;
  const log = { network: network.chainId, dataset: dataset.address, key, round: round.toString(), transaction: hash };
  context.logger.info({ ...traceFieldsOf(progress.trace), ...log, status, signers: reports.length }, "update sent");
  progress.emit({ event: "sent", transaction_hash: hash });
  const answerOf = (sent: Update, transaction_hash: Hex) => ({ ...toAnswer(dataPoint, sent), transaction_hash });
  return {
    answer: answerOf(update, hash),
    raw,
    mined: confirmed.then((transaction) => {
      if (transaction === null) return null;
      const { isReverted, hasEvents, blockNumber, call } = transaction;
      const isStored = !isReverted && hasEvents;
      if (isStored) progress.emit({ event: "mined", transaction_hash: transaction.hash, block_number: blockNumber });
      return { answer: answerOf(call, transaction.hash), isStored };
    }),
  };
}

/** Returns a function that gives the gas back. */
async function reserveGas(
  context: Context,
  dataPoint: DataPoint,
  gas: bigint,
  payer: string | null,
): Promise<() => void> {
  const { network, dataset, key } = dataPoint;
  if (payer === null) return reserveFeedGas(context, network, gas);
  const isNewKey = !(await network.storedKeys.has(dataset.address, key));
  const reservation = (isNewKey ? network.gasForNewKeys : network.gas).reserve(gas, context.clock(), payer);
  if (reservation.ok) return reservation.release;
  const { isShare, retryAfterSeconds } = reservation;
  throw new GasBudgetSpent(isShare ? payer : null, isNewKey, retryAfterSeconds);
}

/**
 * Returns the transaction queue of a data point, which always goes through the same one.
 *
 * @throws ProblemError when this operator sends nothing on the network.
 */
export function queueFor({ chainId, queues }: Pick<Network, "chainId" | "queues">, dataset: Address, key: Hex) {
  const addresses = queues.map(({ address }) => address);
  const [first] = rankedFor(concatHex([dataset, key]), addresses);
  const queue = queues.find(({ address }) => address === first);
  if (queue === undefined) throw noSender(chainId);
  return queue;
}

/**
 * Reserves gas of the feeds' budget.
 *
 * @returns A function that gives the gas back.
 * @throws FeedGasSpent
 */
export function reserveFeedGas({ clock }: Context, network: Network, gas: bigint): () => void {
  const reservation = network.gasForFeeds.reserve(gas, clock());
  if (!reservation.ok) throw new FeedGasSpent(reservation.retryAfterSeconds);
  return reservation.release;
}

/**
 * Sends a job through a transaction queue, and gives the reserved gas back if nothing was sent.
 *
 * @throws The queue's error. A transaction whose outcome is unknown may still be mined, so its gas stays reserved.
 */
export async function submit<C extends RoundCall>(
  queue: TransactionQueue,
  job: Job<C>,
  release: () => void,
): Promise<Sent<C>> {
  try {
    return await queue.send(job);
  } catch (error) {
    if (error instanceof OutcomeUnknown) throw error.reason;
    release();
    throw error;
  }
}

/**
 * The job of one update. If its transaction gets stuck or lost, `renew` builds the next.
 *
 * @param payer The caller that it is for; null for a feed.
 */
export function updateJob<C extends RoundCall>(
  { network, dataset, key, id }: DataPoint,
  payer: string | null,
  call: C,
  renew: () => Promise<C | null>,
  onSigned: (hash: Hex) => void = () => {},
): Job<C> {
  const isStored = async (round: bigint) =>
    (await readStored(network.client, dataset.address, key, "latest")).updatedAt >= round;
  return { dataPointId: id, payer, call, renew, isStored, onSigned };
}

/** Returns what is stored, when another relayer has stored this round or a newer one. */
export async function storedByOther(dataPoint: DataPoint): Promise<SentUpdate> {
  const { network, dataset, key } = dataPoint;
  const { output, status, updatedAt } = await readStored(network.client, dataset.address, key, "pending");
  const hash = await findUpdate(network.client, dataset.address, key, updatedAt).catch(() => null);
  // The other relayer's reports are not known here.
  const answer = toAnswer(dataPoint, { value: output, status, round: updatedAt, reports: [] });
  return { answer: { ...answer, transaction_hash: hash }, raw: null, mined: Promise.resolve(null) };
}

/**
 * Waits up to `waitMs` until a sent round is mined, and answers with it; else with the transaction on its way.
 *
 * @throws ProblemError when the update reverted and nothing newer is stored.
 */
export async function answerAfter(
  sentUpdate: SentUpdate,
  dataPoint: DataPoint,
  round: bigint,
  waitMs: number,
): Promise<DataAnswer> {
  const mined = waitMs === 0 ? null : await withTimeout(sentUpdate.mined, waitMs);
  if (mined === null) return sentUpdate.answer;
  if (mined.isStored) return mined.answer;
  // Another relayer's update came first in the block.
  const stored = await storedByOther(dataPoint);
  if (stored.answer.timestamp < Number(round)) throw updateReverted(null);
  return stored.answer;
}

/** Returns null when the promise takes longer. Whatever it stands for goes on. */
export async function withTimeout<T>(promise: Promise<T | null>, waitMs: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), waitMs);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
