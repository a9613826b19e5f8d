import type { DataAnswer } from "@dataset-oracle/protocol/wire";
import { traceFieldsOf } from "@dataset-oracle/service/trace";
import type { Hex } from "viem";
import { findUpdate, readPoint } from "../chain/dataset.js";
import type { DataPoint } from "../data-point.js";
import { FeedGasSpent } from "../gas-budget.js";
import type { Operator, ReadyUpdate, Relayed } from "../operator.js";
import { gasBudgetSpent, noSigner, updateReverted } from "../problems.js";
import type { Progress } from "../progress.js";
import { type Confirmed, type Job, OutcomeUnknown, type RoundCall } from "../tx/job.js";
import { toAnswer } from "./answer.js";

/** The longest that anyone waits until a transaction is mined. */
export const MAX_WAIT_MS = 60_000;

/** Whose gas budget pays for an update. */
export type Payer = "request" | "feed";

/** A call that carries one update. */
export interface UpdateCall extends RoundCall {
  readonly update: ReadyUpdate;
}

/**
 * Sends an update from one of the operator's accounts, within the gas budget.
 *
 * @param newest Makes the call of the newest round, should this one be stuck or lost; null when the chain has a newer one.
 * @throws ProblemError when the budget is spent, or the RPC does not take the transaction. FeedGasSpent.
 */
export async function broadcast(
  operator: Operator,
  dataPoint: DataPoint,
  update: ReadyUpdate,
  newest: () => Promise<UpdateCall | null>,
  payer: Payer,
  progress: Progress,
): Promise<Relayed> {
  const { network, dataset, key } = dataPoint;
  if (network.senders === null) throw noSigner(network.chainId);
  const reservation = await reserveGas(operator, dataPoint, update.gasLimit, payer);

  const job = updateJob(dataPoint, toCall(dataPoint, update), newest, (hash) =>
    progress.emit({ event: "signed", transaction_hash: hash }),
  );
  const queue = network.senders.queueFor(dataset.address, key);
  const { hash, confirmed } = await queue.send(job).catch((error: unknown) => {
    // It may still be mined: its gas stays counted.
    if (error instanceof OutcomeUnknown) throw error.reason;
    reservation.release();
    throw error;
  });
  operator.logger.info(
    {
      ...traceFieldsOf(progress.trace),
      ...{ network: network.chainId, dataset: dataset.address, key, round: update.timestamp.toString() },
      ...{ transaction: hash, status: update.status, signers: update.reports.length },
    },
    "update sent",
  );
  progress.emit({ event: "sent", transaction_hash: hash });
  void confirmed.then((mined) => {
    if (mined === null || mined.isReverted) return;
    progress.emit({ event: "mined", transaction_hash: mined.hash, block_number: mined.blockNumber });
  });
  return {
    answer: { ...toAnswer(dataPoint, update), transaction_hash: hash },
    mined: async (waitMs) => {
      const mined = waitMs === 0 ? null : await withinTime(confirmed, waitMs);
      return mined === null ? null : { isReverted: mined.isReverted, answer: answerOf(dataPoint, mined) };
    },
  };
}

/** The job of one update: should its call be stuck or lost, what `renew` makes. */
export function updateJob<C extends RoundCall>(
  { network, dataset, key }: DataPoint,
  call: C,
  renew: () => Promise<C | null>,
  onSigned: (hash: Hex) => void = () => {},
): Job<C> {
  const isStored = async (round: bigint) =>
    (await readPoint(network.client, dataset.address, key, "latest")).updatedAt >= round;
  return { point: `${dataset.address} ${key}`, call, renew, isStored, onSigned };
}

async function reserveGas(operator: Operator, dataPoint: DataPoint, gas: bigint, payer: Payer) {
  const { network } = dataPoint;
  const now = operator.clock();
  if (payer === "feed") {
    const reservation = network.gasForFeeds.reserve(gas, now);
    if (!reservation.ok) throw new FeedGasSpent(reservation.retryAfterSeconds);
    return reservation;
  }
  const isNewKey = await isNew(operator, dataPoint);
  const reservation = (isNewKey ? network.gasForNewKeys : network.gas).reserve(gas, now);
  if (!reservation.ok) throw gasBudgetSpent(isNewKey, reservation.retryAfterSeconds);
  return reservation;
}

/** Whether nothing was ever stored of a data point. What once was stays stored, so that is asked only once. */
async function isNew({ storedKeys }: Operator, { network, dataset, key, id }: DataPoint): Promise<boolean> {
  if (storedKeys.has(id)) return false;
  const { updatedAt } = await readPoint(network.client, dataset.address, key, "latest");
  if (updatedAt > 0n) storedKeys.add(id);
  return updatedAt === 0n;
}

export function toCall({ dataset }: DataPoint, update: ReadyUpdate): UpdateCall {
  const expiresAt = Number(update.timestamp + dataset.maxRoundAge) * 1000;
  return { to: dataset.address, data: update.data, gas: update.gasLimit, round: update.timestamp, expiresAt, update };
}

/** It can be of a newer round than the one that was asked for. */
function answerOf(dataPoint: DataPoint, { call, hash }: Confirmed<UpdateCall>): DataAnswer {
  return { ...toAnswer(dataPoint, call.update), transaction_hash: hash };
}

/** The answer when another carrier has stored this round or a newer one: what is stored. */
export async function storedByAnother(dataPoint: DataPoint): Promise<Relayed> {
  const { network, dataset, key } = dataPoint;
  const { value, status, updatedAt } = await readPoint(network.client, dataset.address, key, "pending");
  const hash = await findUpdate(network.client, dataset.address, key, updatedAt).catch(() => null);
  // The reports behind it are the other carrier's.
  const answer = toAnswer(dataPoint, { value, status, timestamp: updatedAt, reports: [] });
  return { answer: { ...answer, transaction_hash: hash }, mined: () => Promise.resolve(null) };
}

/** What is answered of a round that was relayed: what is mined within `waitMs`, else what is on its way. */
export async function answerAfter(
  { answer, mined }: Relayed,
  dataPoint: DataPoint,
  round: bigint,
  waitMs: number,
): Promise<DataAnswer> {
  const done = await mined(waitMs);
  if (done === null) return answer;
  if (!done.isReverted) return done.answer;
  // Another carrier's update came first in the block.
  const stored = await storedByAnother(dataPoint);
  if (stored.answer.timestamp < Number(round)) throw updateReverted(null);
  return stored.answer;
}

/** Null when the wait takes longer; what is waited for goes on. */
export async function withinTime<T>(wanted: Promise<T | null>, waitMs: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), waitMs);
  });
  try {
    return await Promise.race([wanted, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
