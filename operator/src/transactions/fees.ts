import { getBlock, getGasPrice } from "viem/actions";
import type { ChainClient } from "../rpc/client.js";
import { rpcErrorIn, unwrapRpcError } from "../rpc/rpc-error.js";

/** A legacy transaction has a gas price, which is its `maxFeePerGas` here, and a priority fee of 0. */
type FeeType = "eip1559" | "legacy";

/** The fees that a transaction offers, in wei per unit of gas. */
export interface Fees {
  readonly type: FeeType;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** The fees that the chain asks for, in wei per unit of gas. One of the type `legacy` has no base fee but a gas price. */
export interface NetworkFees {
  readonly type: FeeType;
  readonly baseFee: bigint;
  readonly priorityFee: bigint;
}

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
    const gasPrice = await unwrapRpcError(client, "eth_gasPrice", getGasPrice(client));
    return { type: "legacy", baseFee: gasPrice, priorityFee: 0n };
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

/**
 * Chooses the fees of a new transaction. Twice the base fee is still enough after five full blocks.
 *
 * @returns Null when the chain asks for more than the cap.
 */
export function feesFor({ type, baseFee, priorityFee }: NetworkFees, caps: FeeCaps): Fees | null {
  const cap = caps.maxFeePerGas;
  if (baseFee > cap) return null;
  if (type === "legacy") return { type, maxFeePerGas: baseFee, maxPriorityFeePerGas: 0n };
  const tip = smaller(priorityFee, caps.maxPriorityFeePerGas);
  return { type, maxFeePerGas: smaller(2n * baseFee + tip, cap), maxPriorityFeePerGas: smaller(tip, cap) };
}

/** Reports whether the next block could include a transaction with these fees. */
export function covers(fees: Fees, { type, baseFee }: NetworkFees): boolean {
  return type === "legacy" || fees.maxFeePerGas >= baseFee;
}

/**
 * Raises fees to replace a transaction. Nodes ask for a tenth more in each field; this adds an eighth, and never offers
 * less than the current fees.
 *
 * @param current The fees that a new transaction would offer; null when the chain asks for more than the cap.
 * @returns Null when the caps do not allow a tenth more.
 */
export function bumpFees(before: Fees, current: Fees | null, caps: FeeCaps): Fees | null {
  const { type } = before;
  const now = current?.type === type ? current : { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n };
  const maxFeePerGas = raised(before.maxFeePerGas, now.maxFeePerGas, caps.maxFeePerGas);
  const tip = raised(before.maxPriorityFeePerGas, now.maxPriorityFeePerGas, replacementTip(caps));
  if (maxFeePerGas === null) return null;
  if (type === "legacy") return { type, maxFeePerGas, maxPriorityFeePerGas: 0n };
  return tip === null ? null : { type, maxFeePerGas: larger(maxFeePerGas, tip), maxPriorityFeePerGas: tip };
}

/**
 * Raises fees to twice those that a node refused as too low without saying how much it wants, but not above the caps.
 */
export function bumpAboveRefused(fees: Fees, refused: Fees, caps: FeeCaps): Fees {
  if (fees.type !== refused.type) return fees;
  const enough = (fee: bigint, low: bigint, cap: bigint) => larger(fee, smaller(low * 2n, cap));
  return {
    type: fees.type,
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
