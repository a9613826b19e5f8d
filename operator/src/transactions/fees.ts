import { getBlock, getGasPrice } from "viem/actions";
import type { ChainClient } from "../rpc/client.js";
import { rpcErrorIn, unwrapRpcError } from "../rpc/rpc-error.js";

/** The fees that a transaction offers, in wei per unit of gas. */
export type Fees =
  | { readonly type: "eip1559"; readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }
  | { readonly type: "legacy"; readonly gasPrice: bigint };

/** The fees that the chain asks for, in wei per unit of gas. */
export type NetworkFees =
  | { readonly type: "eip1559"; readonly baseFee: bigint; readonly priorityFee: bigint }
  | { readonly type: "legacy"; readonly gasPrice: bigint };

/** The most that a transaction offers, in wei per unit of gas. */
export interface FeeCaps {
  /** Priority fee included. */
  readonly maxFeePerGas: bigint;
  /** Of a new transaction. A replacement may offer twice as much, because nodes ask for more than before. */
  readonly maxPriorityFeePerGas: bigint;
}

const replacementTip = ({ maxFeePerGas, maxPriorityFeePerGas }: FeeCaps) =>
  smaller(2n * maxPriorityFeePerGas, maxFeePerGas);

/** Used where a node does not suggest a priority fee. */
const DEFAULT_PRIORITY_FEE = 1_000_000_000n;

/** Reads the fees that the chain asks for. A chain without a base fee has a gas price. */
export async function readNetworkFees(client: ChainClient): Promise<NetworkFees> {
  const { baseFeePerGas } = await unwrapRpcError(client, "eth_getBlockByNumber", getBlock(client));
  if (baseFeePerGas === null) {
    return { type: "legacy", gasPrice: await unwrapRpcError(client, "eth_gasPrice", getGasPrice(client)) };
  }
  return { type: "eip1559", baseFee: baseFeePerGas, priorityFee: await readPriorityFee(client) };
}

async function readPriorityFee(client: ChainClient): Promise<bigint> {
  try {
    return BigInt(await client.request({ method: "eth_maxPriorityFeePerGas" }));
  } catch (error) {
    const rpcError = rpcErrorIn(error);
    if (rpcError?.kind === "refused") return DEFAULT_PRIORITY_FEE;
    throw rpcError ?? error;
  }
}

/** Returns the base fee, or the gas price of a chain without one. */
export function baseFeeOf(networkFees: NetworkFees): bigint {
  return networkFees.type === "legacy" ? networkFees.gasPrice : networkFees.baseFee;
}

/**
 * Chooses the fees of a new transaction. Twice the base fee is still enough after five full blocks.
 *
 * @returns Null when the chain asks for more than the cap.
 */
export function feesFor(networkFees: NetworkFees, caps: FeeCaps): Fees | null {
  const wanted = baseFeeOf(networkFees);
  const cap = caps.maxFeePerGas;
  if (wanted > cap) return null;
  if (networkFees.type === "legacy") return { type: "legacy", gasPrice: wanted };
  const priorityFee = smaller(networkFees.priorityFee, caps.maxPriorityFeePerGas);
  return {
    type: "eip1559",
    maxFeePerGas: smaller(2n * wanted + priorityFee, cap),
    maxPriorityFeePerGas: smaller(priorityFee, cap),
  };
}

/** Reports whether the next block could include a transaction with these fees. */
export function covers(fees: Fees, networkFees: NetworkFees): boolean {
  if (networkFees.type === "legacy") return true;
  return (fees.type === "legacy" ? fees.gasPrice : fees.maxFeePerGas) >= networkFees.baseFee;
}

/**
 * Raises fees to replace a transaction. Nodes ask for a tenth more in each field; this adds an eighth, and never offers
 * less than the current fees.
 *
 * @param current The fees that a new transaction would offer; null when the chain asks for more than the cap.
 * @returns Null when the caps do not allow a tenth more.
 */
export function bumpFees(before: Fees, current: Fees | null, caps: FeeCaps): Fees | null {
  const cap = caps.maxFeePerGas;
  if (before.type === "legacy") {
    const gasPrice = raised(before.gasPrice, current?.type === "legacy" ? current.gasPrice : 0n, cap);
    return gasPrice === null ? null : { type: "legacy", gasPrice };
  }
  const now = current?.type === "eip1559" ? current : { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n };
  const maxFeePerGas = raised(before.maxFeePerGas, now.maxFeePerGas, cap);
  const maxPriorityFeePerGas = raised(before.maxPriorityFeePerGas, now.maxPriorityFeePerGas, replacementTip(caps));
  if (maxFeePerGas === null || maxPriorityFeePerGas === null) return null;
  return { type: "eip1559", maxFeePerGas: larger(maxFeePerGas, maxPriorityFeePerGas), maxPriorityFeePerGas };
}

/**
 * Raises fees to twice those that a node refused as too low without saying how much it wants, but not above the caps.
 */
export function bumpAboveRefused(fees: Fees, refused: Fees, caps: FeeCaps): Fees {
  const enough = (fee: bigint, low: bigint, cap: bigint) => larger(fee, smaller(low * 2n, cap));
  if (fees.type === "legacy" && refused.type === "legacy") {
    return { type: "legacy", gasPrice: enough(fees.gasPrice, refused.gasPrice, caps.maxFeePerGas) };
  }
  if (fees.type === "legacy" || refused.type === "legacy") return fees;
  return {
    type: "eip1559",
    maxFeePerGas: enough(fees.maxFeePerGas, refused.maxFeePerGas, caps.maxFeePerGas),
    maxPriorityFeePerGas: enough(fees.maxPriorityFeePerGas, refused.maxPriorityFeePerGas, replacementTip(caps)),
  };
}

function raised(before: bigint, current: bigint, cap: bigint): bigint | null {
  const least = before + before / 10n + 1n;
  if (least > cap) return null;
  return smaller(larger(before + before / 8n + 1n, current), cap);
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
