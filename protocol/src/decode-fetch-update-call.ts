import { type Address, decodeFunctionData, encodeFunctionData, type Hex } from "viem";
import { updateGatewayAbi } from "./abi/update-gateway.js";

/**
 * Decodes the calldata of `fetchUpdate(address,bytes)`. It must be exactly what a lens encodes: the ABI's decoder would
 * also take other offsets, dirty padding and trailing bytes.
 *
 * @returns Null if it is something else.
 */
export function decodeFetchUpdateCall(data: string): { readonly dataset: Address; readonly key: Hex } | null {
  const call = data.toLowerCase();
  try {
    const { functionName, args } = decodeFunctionData({ abi: updateGatewayAbi, data: call as Hex });
    const [dataset, key] = args;
    return encodeFunctionData({ abi: updateGatewayAbi, functionName, args }) === call ? { dataset, key } : null;
  } catch {
    return null;
  }
}
