import { type Hex, hexToBigInt } from "viem";
import { type Rpc, RpcError, requestHex } from "./rpc.js";

/** What a transaction offers to pay, in wei for each unit of gas. */
export type Fees =
  | { readonly type: "eip1559"; readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }
  | { readonly type: "legacy"; readonly gasPrice: bigint };

/** For nodes that do not suggest a tip. */
const DEFAULT_TIP = 1_000_000_000n;

/** Today's fees: twice the base fee outlasts six full blocks. A chain without a base fee has a gas price. */
export async function readFees(rpc: Rpc): Promise<Fees> {
  const block = (await rpc.request("eth_getBlockByNumber", ["latest", false])) as { baseFeePerGas?: Hex } | null;
  if (!block?.baseFeePerGas) {
    return { type: "legacy", gasPrice: hexToBigInt(await requestHex(rpc, "eth_gasPrice", [])) };
  }
  const maxPriorityFeePerGas = await readTip(rpc);
  const maxFeePerGas = 2n * hexToBigInt(block.baseFeePerGas) + maxPriorityFeePerGas;
  return { type: "eip1559", maxFeePerGas, maxPriorityFeePerGas };
}

async function readTip(rpc: Rpc): Promise<bigint> {
  try {
    return hexToBigInt(await requestHex(rpc, "eth_maxPriorityFeePerGas", []));
  } catch (error) {
    if (error instanceof RpcError && error.failure === "refused") return DEFAULT_TIP;
    throw error;
  }
}
