import { decodeUpdateCall } from "@dataset-oracle/protocol/decode-update-call";
import { dataPointOf } from "./data-point.js";
import { findFeedKeysByHash } from "./feeds/find-keys-by-hash.js";
import { batchJob } from "./feeds/send-batch.js";
import type { Network } from "./network.js";
import type { Context } from "./process-context.js";
import { holdStatementsInCalldata } from "./statements/hold-statements-in-calldata.js";
import type { Call, Job, RoundCall } from "./tx/job.js";
import { updateJob } from "./update/send-update.js";
import { expiryOf, type UpdateBuilder } from "./update/update-builder.js";

/**
 * Finds the job behind a pending transaction that an earlier process sent.
 *
 * @returns Null for a transaction that updates no dataset served here, or whose keys are not known.
 */
export function recoverJob(
  context: Context,
  builder: UpdateBuilder,
  network: Network,
  call: Call,
): Job<RoundCall> | null {
  const dataset = network.datasets.get(call.to);
  const pending = dataset && decodeUpdateCall(call.data);
  if (!pending) return null;
  // The statements in every transaction that this process shares must be held, and it did not gather these.
  holdStatementsInCalldata(network, dataset, call.data);
  const { round } = pending;
  const roundCall = { ...call, round, expiresAt: expiryOf(round, dataset.maxRoundAge) };
  if (pending.kind === "batch") {
    const keys = findFeedKeysByHash(dataset, pending.keyHashes);
    if (keys === null || keys.length === 0) return null;
    // No caller waits for this batch, so nobody needs to know which keys it stores.
    return batchJob(context, builder, { network, dataset, keys, round }, { ...roundCall, isStored: [] });
  }
  const dataPoint = dataPointOf(network, dataset, pending.key);
  return updateJob<RoundCall>(dataPoint, null, roundCall, () => builder.buildNewest(dataPoint));
}
