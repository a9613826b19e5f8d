import type { Address } from "viem";
import { getCode } from "viem/actions";
import type { ChainClient } from "./client.js";
import { unwrapRpcError } from "./rpc-error.js";

/**
 * Reports whether an address is a contract's.
 *
 * @throws RpcError
 */
export async function hasCode(client: ChainClient, address: Address): Promise<boolean> {
  return (await unwrapRpcError(client, "eth_getCode", getCode(client, { address }))) !== undefined;
}
