import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { type Outcome, QUERY_STATUSES, type QueryStatus } from "@dataset-oracle/protocol/report";
import type { ProblemError } from "@dataset-oracle/service/problem";
import { type Address, decodeErrorResult, decodeFunctionResult, type Hex, hexToBytes } from "viem";
import { RpcError } from "../chain/rpc-error.js";
import type { Network } from "../network.js";
import { updateReverted } from "../problems.js";

/** `KeyOutcome.STORED` of the contract. */
const STORED = 0;

/** The status that an update would store and the gas limit to send, or why the dataset would refuse it. */
export type Simulation =
  | { readonly kind: "ok"; readonly status: QueryStatus; readonly gas: bigint }
  | StaleRound
  | { readonly kind: "refused"; readonly problem: ProblemError };

/** The chain has this round or a newer one, or is about to: `stored`, in seconds since 1970. */
export interface StaleRound {
  readonly kind: "stale";
  readonly stored: bigint;
}

/** Executes an update as the next block would. */
export async function simulateUpdate(
  { simulator, chainId }: Network,
  dataset: Address,
  outcome: Outcome,
  data: Hex,
): Promise<Simulation> {
  try {
    const { result, gas } = await simulator.run(dataset, data);
    return { kind: "ok", status: decode(chainId, () => statusOf(outcome, result)), gas };
  } catch (error) {
    if (!(error instanceof RpcError) || error.kind !== "refused") throw error;
    // Some nodes give no revert data, or do not even say that the call reverted.
    return error.data === null ? { kind: "refused", problem: error } : readRevert(error.data);
  }
}

/**
 * Executes the update of a batch as the next block would.
 *
 * @returns Whether each key, in the batch's order, would be stored, and the gas limit to send.
 * @throws ProblemError with the contract's error when it would revert.
 */
export async function simulateBatch(
  { simulator, chainId }: Network,
  dataset: Address,
  data: Hex,
): Promise<{ readonly isStored: readonly boolean[]; readonly gas: bigint }> {
  try {
    const { result, gas } = await simulator.run(dataset, data);
    const outcomes = decode(chainId, () =>
      hexToBytes(decodeFunctionResult({ abi: datasetAbi, functionName: "updateBatch", data: result })),
    );
    return { isStored: [...outcomes].map((outcome) => outcome === STORED), gas };
  } catch (error) {
    if (!(error instanceof RpcError) || error.kind !== "refused" || error.data === null) throw error;
    throw updateReverted(describeRevert(error.data));
  }
}

function statusOf(outcome: Outcome, result: Hex): QueryStatus {
  if (outcome === "NOT_AVAILABLE") return outcome;
  const status = decodeFunctionResult({ abi: datasetAbi, functionName: "update", data: result });
  return QUERY_STATUSES[status] ?? "INVALID";
}

function readRevert(data: Hex): Simulation {
  const revert = decodeRevert(data);
  if (revert?.errorName === "StaleRound") return { kind: "stale", stored: revert.args[1] };
  return { kind: "refused", problem: updateReverted(describeRevert(data)) };
}

function describeRevert(data: Hex): string | null {
  const revert = decodeRevert(data);
  return revert === null ? null : `${revert.errorName}(${(revert.args ?? []).join(", ")})`;
}

/** Returns null for an error that the dataset does not declare. */
function decodeRevert(data: Hex) {
  try {
    return decodeErrorResult({ abi: datasetAbi, data });
  } catch {
    return null;
  }
}

/** @throws RpcError when a call returned something that no dataset returns. */
function decode<T>(chainId: number, read: () => T): T {
  try {
    return read();
  } catch {
    throw new RpcError("failed", chainId, "eth_call", "answered something that no dataset answers");
  }
}
