import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { decodeFunctionData } from "viem";
import { readPoint } from "./chain/contract.js";
import type { Job, RoundCall } from "./chain/job.js";
import type { Call } from "./chain/submit.js";
import type { Network } from "./network.js";
import type { Operator } from "./operator.js";
import { newestCall } from "./request.js";

/**
 * Starts the lanes. What an earlier process has sent, and the chain shows as pending, is seen to as if this process had
 * sent it, as far as a node tells what it is.
 */
export function takeOver(operator: Operator): void {
  for (const network of operator.networks.values()) {
    for (const lane of network.senders?.all ?? []) lane.start((call) => jobOf(operator, network, call));
  }
}

/** Null for a transaction that is not the update of one key of a dataset that is served. */
function jobOf(operator: Operator, network: Network, call: Call): Job<RoundCall> | null {
  const dataset = network.datasets.get(call.to);
  const update = decodeUpdate(call);
  if (dataset === undefined || update === null) return null;
  const [key, round] = update;
  const target = { network, dataset, key };
  return {
    point: `${dataset.address} ${key}`,
    call: { ...call, round, expiresAt: Number(round + dataset.maxRoundAge) * 1000 },
    renew: () => newestCall(operator, target),
    isStored: async (at) => (await readPoint(network.rpc, dataset.address, key, "latest")).updatedAt >= at,
    onSigned: () => {},
  };
}

function decodeUpdate({ data }: Call): readonly [`0x${string}`, bigint] | null {
  try {
    const { functionName, args } = decodeFunctionData({ abi: datasetAbi, data });
    return functionName === "update" || functionName === "updateNotAvailable" ? [args[0], args[1]] : null;
  } catch {
    return null;
  }
}
