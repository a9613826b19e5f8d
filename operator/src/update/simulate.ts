import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { type Outcome, QUERY_STATUSES, type QueryStatus } from "@dataset-oracle/protocol/report";
import type { ProblemError } from "@dataset-oracle/service/problem";
import { type Address, decodeErrorResult, decodeFunctionResult, type Hex, hexToBytes } from "viem";
import type { Rpc } from "../chain/rpc.js";
import { RpcError } from "../chain/rpc-error.js";
import { updateReverted } from "../problems.js";
import type { Simulator } from "./simulator.js";

/** `KeyOutcome.STORED` of the contract. */
const STORED = 0;

/** Where updates are simulated. */
interface Simulating {
  readonly rpc: Rpc;
  readonly simulator: Simulator;
}

/** The status that would be stored and the gas to send, or why the chain would not take it. */
export type Simulation =
  | { readonly kind: "ok"; readonly status: QueryStatus; readonly gas: bigint }
  /** The chain has this round or a newer one: `stored`, in seconds since 1970. */
  | { readonly kind: "stale"; readonly stored: bigint }
  | { readonly kind: "refused"; readonly problem: ProblemError };

/** Runs an update as the next block would. */
export async function simulateUpdate(
  { rpc, simulator }: Simulating,
  dataset: Address,
  outcome: Outcome,
  data: Hex,
): Promise<Simulation> {
  try {
    const { result, gas } = await simulator.run(dataset, data);
    return { kind: "ok", status: decode(rpc, "eth_call", () => statusOf(outcome, result)), gas };
  } catch (error) {
    if (!(error instanceof RpcError) || error.kind !== "refused") throw error;
    // Some nodes do not say what a call reverted with, or that it did.
    return error.data === null ? { kind: "refused", problem: error } : readRevert(error.data);
  }
}

/** What a batch would do now. */
export interface BatchSimulation {
  /** For each key, in the batch's order, whether it would be stored. */
  readonly isStored: readonly boolean[];
  /** In units of gas. */
  readonly gas: bigint;
}

/**
 * Runs the update of a batch as the next block would.
 *
 * @throws ProblemError with the contract's named error when it would revert.
 */
export async function simulateBatch(
  { rpc, simulator }: Simulating,
  dataset: Address,
  data: Hex,
): Promise<BatchSimulation> {
  try {
    const { result, gas } = await simulator.run(dataset, data);
    const outcomes = decode(rpc, "eth_call", () =>
      hexToBytes(decodeFunctionResult({ abi: datasetAbi, functionName: "updateBatch", data: result })),
    );
    return { isStored: [...outcomes].map((outcome) => outcome === STORED), gas };
  } catch (error) {
    if (!(error instanceof RpcError) || error.kind !== "refused" || error.data === null) throw error;
    throw updateReverted(namedError(error.data));
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
  return { kind: "refused", problem: updateReverted(namedError(data)) };
}

function namedError(data: Hex): string | null {
  const revert = decodeRevert(data);
  return revert === null ? null : `${revert.errorName}(${(revert.args ?? []).join(", ")})`;
}

/** @returns Null when it is no error of a dataset. */
function decodeRevert(data: Hex) {
  try {
    return decodeErrorResult({ abi: datasetAbi, data });
  } catch {
    return null;
  }
}

/** @throws RpcError when what a call returned is not of the dataset's interface. */
function decode<T>(rpc: Rpc, method: "eth_call", read: () => T): T {
  try {
    return read();
  } catch {
    throw new RpcError("failed", rpc.chainId, method, "answered something that no dataset answers");
  }
}
