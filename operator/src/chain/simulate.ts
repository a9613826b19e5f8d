import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { type Outcome, QUERY_STATUSES, type QueryStatus } from "@dataset-oracle/protocol/report";
import { type Address, decodeErrorResult, decodeFunctionResult, type Hex, hexToBigInt } from "viem";
import { decode } from "./contract.js";
import { type Rpc, RpcError, requestHex } from "./rpc.js";

export type Simulation =
  | { readonly ok: true; readonly status: QueryStatus; readonly gasLimit: bigint }
  | { readonly ok: false; readonly revert: Revert };

/** The contract's named error. */
export interface Revert {
  /** Null when the node did not say what the call reverted with. */
  readonly name: string | null;
  readonly args: readonly unknown[];
}

/**
 * Runs an update as the next block would: on `pending`, because the latest block can be older than the round.
 *
 * @returns The status that would be stored and the gas to send, with a quarter to spare: what another transaction stores
 * before it can change the cost.
 */
export async function simulateUpdate(rpc: Rpc, dataset: Address, outcome: Outcome, data: Hex): Promise<Simulation> {
  const call = { to: dataset, data };
  try {
    const [result, gas] = await Promise.all([
      requestHex(rpc, "eth_call", [call, "pending"]),
      requestHex(rpc, "eth_estimateGas", [call, "pending"]),
    ]);
    const estimate = hexToBigInt(gas);
    return { ok: true, status: decode(rpc, () => statusOf(outcome, result)), gasLimit: estimate + estimate / 4n };
  } catch (error) {
    const revert = error instanceof RpcError && error.failure === "refused" ? readRevert(error.data) : null;
    if (revert === null) throw error;
    return { ok: false, revert };
  }
}

function statusOf(outcome: Outcome, result: Hex): QueryStatus {
  if (outcome === "NOT_AVAILABLE") return outcome;
  const status = decodeFunctionResult({ abi: datasetAbi, functionName: "update", data: result });
  return QUERY_STATUSES[status] ?? "INVALID";
}

/** @returns Null when the node's error is not a revert. */
function readRevert(data: Hex | null): Revert | null {
  if (data === null) return null;
  try {
    const { errorName, args } = decodeErrorResult({ abi: datasetAbi, data });
    return { name: errorName, args: args ?? [] };
  } catch {
    return { name: null, args: [] };
  }
}

/** A revert for people: `StaleRound(12, 13)`. */
export function describeRevert({ name, args }: Revert): string | null {
  return name === null ? null : `${name}(${args.join(", ")})`;
}
