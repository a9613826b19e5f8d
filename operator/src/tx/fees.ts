import { Type } from "@sinclair/typebox";
import { hexToBigInt } from "viem";
import { Quantity, type Rpc, requestAs, requestQuantity } from "../chain/rpc.js";
import { RpcError } from "../chain/rpc-error.js";
import { feesTooHigh } from "../problems.js";

/** What a transaction offers to pay, in wei for each unit of gas. */
export type Fees =
  | { readonly type: "eip1559"; readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }
  | { readonly type: "legacy"; readonly gasPrice: bigint };

/** What the chain asks, in wei for each unit of gas. */
export type Market =
  | { readonly type: "eip1559"; readonly baseFee: bigint; readonly tip: bigint }
  | { readonly type: "legacy"; readonly gasPrice: bigint };

/** For nodes that do not suggest a tip. */
const DEFAULT_TIP = 1_000_000_000n;

const Block = Type.Object({ baseFeePerGas: Type.Optional(Type.Union([Quantity, Type.Null()])) });

/** A chain without a base fee has a gas price. */
export async function readMarket(rpc: Rpc): Promise<Market> {
  const { baseFeePerGas } = await requestAs(rpc, Block, "eth_getBlockByNumber", ["latest", false]);
  if (!baseFeePerGas) return { type: "legacy", gasPrice: await requestQuantity(rpc, "eth_gasPrice", []) };
  return { type: "eip1559", baseFee: hexToBigInt(baseFeePerGas), tip: await readTip(rpc) };
}

async function readTip(rpc: Rpc): Promise<bigint> {
  try {
    return await requestQuantity(rpc, "eth_maxPriorityFeePerGas", []);
  } catch (error) {
    if (error instanceof RpcError && error.kind === "refused") return DEFAULT_TIP;
    throw error;
  }
}

/**
 * Today's fees: twice the base fee outlasts six full blocks.
 *
 * @param cap The most that is submitted, tip included, in wei for each unit of gas.
 * @throws ProblemError when the chain wants more than that.
 */
export function feesFor(chainId: number, market: Market, cap: bigint): Fees {
  const wanted = market.type === "legacy" ? market.gasPrice : market.baseFee;
  if (wanted > cap) throw feesTooHigh(chainId, wanted, cap);
  if (market.type === "legacy") return { type: "legacy", gasPrice: wanted };
  return {
    type: "eip1559",
    maxFeePerGas: smaller(2n * wanted + market.tip, cap),
    maxPriorityFeePerGas: smaller(market.tip, cap),
  };
}

/** Whether the next block could take a transaction that offers this. */
export function covers(fees: Fees, market: Market): boolean {
  if (market.type === "legacy") return true;
  return (fees.type === "legacy" ? fees.gasPrice : fees.maxFeePerGas) >= market.baseFee;
}

/**
 * Fees that replace a transaction: each field an eighth more than before, where nodes ask for a tenth, and no less than
 * today's.
 *
 * @param today Null when the chain wants more than the cap.
 * @returns Null when the cap does not allow a tenth more.
 */
export function raisedFees(before: Fees, today: Fees | null, cap: bigint): Fees | null {
  if (before.type === "legacy") {
    const gasPrice = raised(before.gasPrice, today?.type === "legacy" ? today.gasPrice : 0n, cap);
    return gasPrice === null ? null : { type: "legacy", gasPrice };
  }
  const now = today?.type === "eip1559" ? today : { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n };
  const maxFeePerGas = raised(before.maxFeePerGas, now.maxFeePerGas, cap);
  const maxPriorityFeePerGas = raised(before.maxPriorityFeePerGas, now.maxPriorityFeePerGas, cap);
  if (maxFeePerGas === null || maxPriorityFeePerGas === null) return null;
  return { type: "eip1559", maxFeePerGas: larger(maxFeePerGas, maxPriorityFeePerGas), maxPriorityFeePerGas };
}

/** Twice as much, within the cap: for a node that wants more and does not say how much. */
export function doubled(fees: Fees, cap: bigint): Fees {
  if (fees.type === "legacy") return { ...fees, gasPrice: smaller(fees.gasPrice * 2n, cap) };
  return {
    type: "eip1559",
    maxFeePerGas: smaller(fees.maxFeePerGas * 2n, cap),
    maxPriorityFeePerGas: smaller(fees.maxPriorityFeePerGas * 2n, cap),
  };
}

/** The most that it offers for each unit of gas. */
export function offerOf(fees: Fees): bigint {
  return fees.type === "legacy" ? fees.gasPrice : fees.maxFeePerGas;
}

function raised(before: bigint, today: bigint, cap: bigint): bigint | null {
  const least = before + before / 10n + 1n;
  if (least > cap) return null;
  return smaller(larger(before + before / 8n + 1n, today), cap);
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
