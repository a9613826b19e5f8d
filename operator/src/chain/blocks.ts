import { BlockNotFoundError, type Hex } from "viem";
import { getBlock, getBlockNumber } from "viem/actions";
import type { ChainClient } from "./client.js";
import { nullFor, unwrapRpcError } from "./rpc-error.js";

/** Reads the number of the newest block. */
export async function readBlockNumber(client: ChainClient): Promise<number> {
  return Number(await unwrapRpcError(client, "eth_blockNumber", getBlockNumber(client)));
}

/**
 * Reads the time of the newest block, in seconds since 1970.
 *
 * @throws RpcError
 */
export async function readHeadTimestamp(client: ChainClient): Promise<number> {
  return Number((await unwrapRpcError(client, "eth_getBlockByNumber", getBlock(client))).timestamp);
}

/** Reads the hash of a block; null when the chain is not that long. */
export async function readBlockHash(client: ChainClient, blockNumber: number): Promise<Hex | null> {
  const action = getBlock(client, { blockNumber: BigInt(blockNumber) }).catch(nullFor(BlockNotFoundError));
  return (await unwrapRpcError(client, "eth_getBlockByNumber", action))?.hash ?? null;
}
