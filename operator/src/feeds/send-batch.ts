import type { Hex } from "viem";
import { readManyStored } from "../chain/stored-values.js";
import { nullAfterTimeout } from "../null-after-timeout.js";
import type { Context } from "../process-context.js";
import { roundAt } from "../round-time.js";
import type { Job } from "../tx/job.js";
import { sendJob } from "../tx/send-within-gas-budget.js";
import type { Batch } from "../update/batch.js";
import type { SentUpdate } from "../update/sent-update.js";
import { allStoredOrPending } from "../update/stored-or-pending.js";
import type { BatchUpdate, UpdateBuilder } from "../update/update-builder.js";
import { MAX_MINING_WAIT_MS } from "../update/wait-until-mined.js";

/**
 * Sends a batch in one transaction, within the feeds' gas budget, and waits until it is mined.
 *
 * @returns The keys that it stored, or will store: the queue goes on with a transaction that is not mined in time. Every
 * other key has to be sent by itself.
 * @throws ProblemError when the batch cannot be sent.
 * @throws FeedGasSpent
 */
export async function sendBatch(
  context: Context,
  builder: UpdateBuilder,
  batch: Batch,
): Promise<ReadonlyMap<Hex, SentUpdate>> {
  const { network, dataset, keys, round } = batch;
  const [first] = keys;
  const update = await builder.buildBatch(batch);
  if (update === null || network.queues.length === 0 || first === undefined) return new Map();
  const { notAvailable } = update;
  const { hash, confirmed } = await sendJob(
    context,
    { network, dataset, key: first },
    batchJob(context, builder, batch, update),
  );
  context.logger.info(
    {
      network: network.chainId,
      dataset: dataset.address,
      round: round.toString(),
      transaction: hash,
      keys: keys.filter((_, index) => update.isStored[index]),
      ...(notAvailable === 0 ? {} : { notAvailable }),
    },
    "batch sent",
  );
  const mined = await nullAfterTimeout(confirmed, MAX_MINING_WAIT_MS);
  if (mined?.isReverted) return new Map();
  const { isStored } = mined?.call ?? update;
  return allStoredOrPending({ network, dataset, keys: keys.filter((_, index) => isStored[index]) });
}

/** The job of a batch. If its transaction gets stuck or lost, the newest round of its keys replaces it. */
export function batchJob(
  { clock }: Context,
  builder: UpdateBuilder,
  batch: Batch,
  call: BatchUpdate,
): Job<BatchUpdate> {
  const { network, dataset, keys } = batch;
  return {
    dataPointId: `${dataset.address} ${keys.join(" ")}`,
    payer: null,
    call,
    renew: () => builder.buildBatch({ ...batch, round: roundAt(clock()) }),
    isStored: async (round) => {
      const points = await readManyStored(network.client, dataset.address, keys, "latest");
      return points.every(({ updatedAt }) => updatedAt >= round);
    },
  };
}
