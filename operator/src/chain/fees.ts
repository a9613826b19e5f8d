import { Type } from "@sinclair/typebox";
import { hexToBigInt } from "viem";
import { feesTooHigh } from "../problems.js";
import { Quantity, type Rpc, RpcError, requestAs, requestQuantity } from "./rpc.js";

/** What a transaction offers to pay, in wei for each unit of gas. */
export type Fees =
  | { readonly type: "eip1559"; readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }
  | { readonly type: "legacy"; readonly gasPrice: bigint };

/** For nodes that do not suggest a tip. */
const DEFAULT_TIP = 1_000_000_000n;

const Block = Type.Object({ baseFeePerGas: Type.Optional(Type.Union([Quantity, Type.Null()])) });

/**
 * Today's fees: twice the base fee outlasts six full blocks. A chain without a base fee has a gas price.
 *
 * @param cap The most that is offered, tip included, in wei for each unit of gas.
 * @throws ProblemError when the chain wants more than that.
 */
export async function readFees(rpc: Rpc, cap: bigint): Promise<Fees> {
  const { baseFeePerGas } = await requestAs(rpc, Block, "eth_getBlockByNumber", ["latest", false]);
  if (!baseFeePerGas) {
    const gasPrice = await requestQuantity(rpc, "eth_gasPrice", []);
    if (gasPrice > cap) throw feesTooHigh(rpc.chainId, gasPrice, cap);
    return { type: "legacy", gasPrice };
  }
  const baseFee = hexToBigInt(baseFeePerGas);
  if (baseFee > cap) throw feesTooHigh(rpc.chainId, baseFee, cap);
  const tip = await readTip(rpc);
  return {
    type: "eip1559",
    maxFeePerGas: smaller(2n * baseFee + tip, cap),
    maxPriorityFeePerGas: smaller(tip, cap),
  };
}

async function readTip(rpc: Rpc): Promise<bigint> {
  try {
    return await requestQuantity(rpc, "eth_maxPriorityFeePerGas", []);
  } catch (error) {
    if (error instanceof RpcError && error.failure === "refused") return DEFAULT_TIP;
    throw error;
  }
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
