import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { decodeFunctionData, type Hex, keccak256 } from "viem";
import { dataPointOf } from "./data-point.js";
import { batchJob } from "./feeds/batch.js";
import type { Dataset, Network } from "./network.js";
import type { Context } from "./process-context.js";
import type { Call, Job, RoundCall } from "./tx/job.js";
import { expiryOf, type UpdateBuilder } from "./update/build.js";
import { updateJob } from "./update/relay.js";

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
  const pending = dataset && decodeUpdate(network, dataset, call.data);
  if (!pending) return null;
  const { keys, round, isBatch } = pending;
  const [key] = keys;
  if (key === undefined) return null;
  const roundCall = { ...call, round, expiresAt: expiryOf(round, dataset.maxRoundAge) };
  if (isBatch) {
    // No caller waits for this batch, so nobody needs to know which keys it stores.
    return batchJob(context, builder, { network, dataset, keys, round }, { ...roundCall, isStored: [] });
  }
  const dataPoint = dataPointOf(network, dataset, key);
  return updateJob<RoundCall>(dataPoint, null, roundCall, () => builder.buildNewest(dataPoint));
}

interface PendingUpdate {
  readonly keys: readonly Hex[];
  readonly round: bigint;
  readonly isBatch: boolean;
}

function decodeUpdate(network: Network, dataset: Dataset, data: Hex): PendingUpdate | null {
  try {
    const { functionName, args } = decodeFunctionData({ abi: datasetAbi, data });
    if (functionName === "update" || functionName === "updateNotAvailable") {
      return { keys: [args[0]], round: args[1], isBatch: false };
    }
    if (functionName !== "updateBatch") return null;
    const [{ keyHashes, timestamp }] = args;
    const keys = keysOf(network, dataset, keyHashes);
    return keys === null ? null : { keys, round: timestamp, isBatch: true };
  } catch {
    return null;
  }
}

/** Finds the keys of a batch, which names them by hash, among the feeds. Returns null if one is not a feed any more. */
function keysOf({ feeds }: Network, dataset: Dataset, hashes: readonly Hex[]): readonly Hex[] | null {
  const known = feeds.filter((datasetFeeds) => datasetFeeds.dataset === dataset).flatMap((one) => one.feeds);
  const byHash = new Map(known.map(({ key }) => [keccak256(key), key]));
  const keys = hashes.flatMap((hash) => byHash.get(hash) ?? []);
  return keys.length === hashes.length ? keys : null;
}
