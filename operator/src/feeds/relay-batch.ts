import type { Hex } from "viem";
import { readPoint } from "../chain/dataset.js";
import { roundAt } from "../clock.js";
import { dataPointOf } from "../data-point.js";
import { FeedGasSpent } from "../gas-budget.js";
import type { Operator, Relayed } from "../operator.js";
import { type Job, OutcomeUnknown, type RoundCall } from "../tx/job.js";
import { MAX_WAIT_MS, storedByAnother, withinTime } from "../update/relay.js";
import { type Batch, type ReadyBatch, readyBatch } from "./batch.js";

interface BatchCall extends RoundCall {
  /** For each key, in the batch's order, whether it is to be stored. */
  readonly stored: readonly boolean[];
}

/**
 * Carries a batch to the chain in one transaction, within the feeds' gas budget.
 *
 * @returns What it stored, once it is mined. A key that is not there has to go by itself.
 * @throws FeedGasSpent. ProblemError when it cannot be sent.
 */
export async function relayBatch(operator: Operator, batch: Batch): Promise<ReadonlyMap<Hex, Relayed>> {
  const { network, dataset, keys, round } = batch;
  const ready = await readyBatch(operator, batch);
  const [first] = keys;
  if (ready === null || network.senders === null || first === undefined) return new Map();
  const call = toCall(batch, ready);
  const reservation = network.gasForFeeds.reserve(call.gas, operator.clock());
  if (!reservation.ok) throw new FeedGasSpent(reservation.retryAfterSeconds);

  const queue = network.senders.queueFor(dataset.address, first);
  const { hash, confirmed } = await queue.send(batchJob(operator, batch, call)).catch((error: unknown) => {
    // It may still be mined: its gas stays counted.
    if (error instanceof OutcomeUnknown) throw error.reason;
    reservation.release();
    throw error;
  });
  const log = operator.logger.child({ network: network.chainId, dataset: dataset.address, round: round.toString() });
  log.info({ transaction: hash, keys: keys.filter((_, place) => call.stored[place]) }, "batch sent");
  const mined = await withinTime(confirmed, MAX_WAIT_MS);
  if (mined === null || mined.isReverted) return new Map();
  const relayed = keys.flatMap((key, place) => (mined.call.stored[place] ? [key] : []));
  return new Map(
    await Promise.all(
      relayed.map(async (key) => [key, await storedByAnother(dataPointOf(network, dataset, key))] as const),
    ),
  );
}

/** The job of a batch: should its call be stuck or lost, its keys' newest round. */
export function batchJob(operator: Operator, batch: Batch, call: BatchCall): Job<BatchCall> {
  const { network, dataset, keys } = batch;
  return {
    point: `${dataset.address} ${keys.join(" ")}`,
    call,
    renew: async () => {
      const newest = { ...batch, round: roundAt(operator.clock()) };
      const renewed = await readyBatch(operator, newest);
      return renewed === null ? null : toCall(newest, renewed);
    },
    isStored: async (at) => {
      const points = await Promise.all(keys.map((key) => readPoint(network.client, dataset.address, key, "latest")));
      return points.every(({ updatedAt }) => updatedAt >= at);
    },
    onSigned: () => {},
  };
}

function toCall({ dataset, round }: Batch, { data, gasLimit, stored }: ReadyBatch): BatchCall {
  const expiresAt = Number(round + dataset.maxRoundAge) * 1000;
  return { to: dataset.address, data, gas: gasLimit, round, expiresAt, stored };
}
