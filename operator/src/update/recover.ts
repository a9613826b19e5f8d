import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { decodeFunctionData, type Hex, keccak256 } from "viem";
import { dataPointOf } from "../data-point.js";
import { batchJob } from "../feeds/relay-batch.js";
import type { Dataset, Network } from "../network.js";
import type { Operator } from "../operator.js";
import type { Job, RoundCall } from "../tx/job.js";
import type { Call } from "../tx/submission.js";
import { updateJob } from "./relay.js";
import { newestCall } from "./request.js";

/**
 * Starts the queues. What an earlier process has sent, and the chain shows as pending, is seen to as if this process had
 * sent it, as far as a node tells what it is.
 */
export function recover(operator: Operator): void {
  for (const network of operator.networks.values()) {
    for (const queue of network.senders?.all ?? []) queue.start((call) => jobOf(operator, network, call));
  }
}

/** Null for a transaction that is not an update of a dataset that is served, or whose keys are not known. */
function jobOf(operator: Operator, network: Network, call: Call): Job<RoundCall> | null {
  const dataset = network.datasets.get(call.to);
  const update = dataset && decodeUpdate(network, dataset, call);
  if (!update) return null;
  const { keys, round, isBatch } = update;
  const [key] = keys;
  if (key === undefined) return null;
  const again = { ...call, round, expiresAt: Number(round + dataset.maxRoundAge) * 1000 };
  // Nobody waits to be told what this batch stores.
  if (isBatch) return batchJob(operator, { network, dataset, keys, round }, { ...again, stored: [] });
  const dataPoint = dataPointOf(network, dataset, key);
  return updateJob<RoundCall>(dataPoint, again, () => newestCall(operator, dataPoint));
}

interface PendingUpdate {
  readonly keys: readonly Hex[];
  readonly round: bigint;
  readonly isBatch: boolean;
}

function decodeUpdate(network: Network, dataset: Dataset, { data }: Call): PendingUpdate | null {
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

/** A batch names its keys by hash, and is of this operator's feeds. Null if one is of no feed any more. */
function keysOf({ feeds }: Network, dataset: Dataset, hashes: readonly Hex[]): readonly Hex[] | null {
  const known = feeds.filter((ofDataset) => ofDataset.dataset === dataset).flatMap((ofDataset) => ofDataset.feeds);
  const byHash = new Map(known.map(({ key }) => [keccak256(key), key]));
  const keys = hashes.flatMap((hash) => byHash.get(hash) ?? []);
  return keys.length === hashes.length ? keys : null;
}
