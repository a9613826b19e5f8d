import { getBlock, getGasPrice } from "viem/actions";
import { type ChainClient, unwrapRpcError } from "../chain/client.js";
import { rpcErrorIn } from "../chain/rpc-error.js";
import { feesTooHigh } from "../problems.js";

/** The fees that a transaction offers, in wei per unit of gas. */
export type Fees =
  | { readonly type: "eip1559"; readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }
  | { readonly type: "legacy"; readonly gasPrice: bigint };

/** The fees that the chain asks, in wei per unit of gas. */
export type Market =
  | { readonly type: "eip1559"; readonly baseFee: bigint; readonly priorityFee: bigint }
  | { readonly type: "legacy"; readonly gasPrice: bigint };

/** Used where a node does not suggest a priority fee. */
const DEFAULT_PRIORITY_FEE = 1_000_000_000n;

/** Reads the fees that the chain asks. A chain without a base fee has a gas price. */
export async function readMarket(client: ChainClient): Promise<Market> {
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

/**
 * Chooses the fees of a new transaction. Twice the base fee lasts for six full blocks.
 *
 * @param cap The maximum fee per gas, priority fee included, in wei.
 * @throws ProblemError when the chain asks for more than the cap.
 */
export function feesFor(chainId: number, market: Market, cap: bigint): Fees {
  const wanted = market.type === "legacy" ? market.gasPrice : market.baseFee;
  if (wanted > cap) throw feesTooHigh(chainId, wanted, cap);
  if (market.type === "legacy") return { type: "legacy", gasPrice: wanted };
  return {
    type: "eip1559",
    maxFeePerGas: smaller(2n * wanted + market.priorityFee, cap),
    maxPriorityFeePerGas: smaller(market.priorityFee, cap),
  };
}

/** Reports whether the next block could include a transaction with these fees. */
export function covers(fees: Fees, market: Market): boolean {
  if (market.type === "legacy") return true;
  return (fees.type === "legacy" ? fees.gasPrice : fees.maxFeePerGas) >= market.baseFee;
}

/**
 * Raises fees to replace a transaction. Nodes ask for a tenth more in each field; this adds an eighth, and never offers
 * less than the current fees.
 *
 * @param current Null when the chain asks for more than the cap.
 * @returns Null when the cap does not allow a tenth more.
 */
export function raisedFees(before: Fees, current: Fees | null, cap: bigint): Fees | null {
  if (before.type === "legacy") {
    const gasPrice = raised(before.gasPrice, current?.type === "legacy" ? current.gasPrice : 0n, cap);
    return gasPrice === null ? null : { type: "legacy", gasPrice };
  }
  const now = current?.type === "eip1559" ? current : { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n };
  const maxFeePerGas = raised(before.maxFeePerGas, now.maxFeePerGas, cap);
  const maxPriorityFeePerGas = raised(before.maxPriorityFeePerGas, now.maxPriorityFeePerGas, cap);
  if (maxFeePerGas === null || maxPriorityFeePerGas === null) return null;
  return { type: "eip1559", maxFeePerGas: larger(maxFeePerGas, maxPriorityFeePerGas), maxPriorityFeePerGas };
}

/** Doubles fees within the cap, for a node that wants more and does not say how much. */
export function doubled(fees: Fees, cap: bigint): Fees {
  if (fees.type === "legacy") return { ...fees, gasPrice: smaller(fees.gasPrice * 2n, cap) };
  return {
    type: "eip1559",
    maxFeePerGas: smaller(fees.maxFeePerGas * 2n, cap),
    maxPriorityFeePerGas: smaller(fees.maxPriorityFeePerGas * 2n, cap),
  };
}

/** Returns the maximum that is offered per unit of gas. */
export function maxFeeOf(fees: Fees): bigint {
  return fees.type === "legacy" ? fees.gasPrice : fees.maxFeePerGas;
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
