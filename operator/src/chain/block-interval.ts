import { getBlock } from "viem/actions";
import type { ChainClient } from "./client.js";
import { unwrapRpcError } from "./rpc-error.js";

const BLOCKS = 100n;

/**
 * Reads the mean time between the newest blocks, in milliseconds; 0 for a chain with one block.
 *
 * @throws RpcError
 */
export async function readBlockIntervalMs(client: ChainClient): Promise<number> {
  const newest = await unwrapRpcError(client, "eth_getBlockByNumber", getBlock(client));
  const blocks = newest.number < BLOCKS ? newest.number : BLOCKS;
  if (blocks === 0n) return 0;
  const blockNumber = newest.number - blocks;
  const older = await unwrapRpcError(client, "eth_getBlockByNumber", getBlock(client, { blockNumber }));
  return (Number(newest.timestamp - older.timestamp) * 1000) / Number(blocks);
}
