import { BlockNotFoundError, type Hex } from "viem";
import { getBlock, getBlockNumber } from "viem/actions";
import type { ChainClient } from "./client.js";
import { nullFor, unwrapRpcError } from "./rpc-error.js";

/** A block of the chain. */
export interface Block {
  readonly number: number;
  readonly hash: Hex;
  /** In seconds since 1970. */
  readonly timestamp: number;
}

/** Block numbers, both inclusive. */
export interface Blocks {
  readonly from: number;
  readonly to: number;
}

/** The interval between blocks is the mean of this many. */
const BLOCKS_OF_INTERVAL = 100;
/** An idle chain can go minutes without a block; a transaction makes it produce one. */
export const MAX_BLOCK_INTERVAL_MS = 15_000;

/**
 * Reads the number of the newest block.
 *
 * @throws RpcError
 */
export async function readBlockNumber(client: ChainClient): Promise<number> {
  return Number(await unwrapRpcError(client, "eth_blockNumber", getBlockNumber(client)));
}

/**
 * Reads the newest block.
 *
 * @throws RpcError
 */
export async function readHead(client: ChainClient): Promise<Block> {
  const { number, hash, timestamp } = await unwrapRpcError(client, "eth_getBlockByNumber", getBlock(client));
  return { number: Number(number), hash, timestamp: Number(timestamp) };
}

/**
 * Reads the hash of a block; null when the chain is not that long.
 *
 * @throws RpcError
 */
export async function readBlockHash(client: ChainClient, number: number): Promise<Hex | null> {
  return (await readBlock(client, number))?.hash ?? null;
}

function readBlock(client: ChainClient, number: number) {
  const action = getBlock(client, { blockNumber: BigInt(number) }).catch(nullFor(BlockNotFoundError));
  return unwrapRpcError(client, "eth_getBlockByNumber", action);
}

/**
 * Reads the mean time between the newest blocks, in milliseconds, at most MAX_BLOCK_INTERVAL_MS; 0 for a chain with one
 * block. If the endpoint has no older block, the maximum is returned.
 *
 * @throws RpcError
 */
export async function readBlockIntervalMs(client: ChainClient): Promise<number> {
  const newest = await readHead(client);
  const blocks = Math.min(newest.number, BLOCKS_OF_INTERVAL);
  if (blocks === 0) return 0;
  const older = await readBlock(client, newest.number - blocks);
  if (older === null) return MAX_BLOCK_INTERVAL_MS;
  return Math.min(((newest.timestamp - Number(older.timestamp)) * 1000) / blocks, MAX_BLOCK_INTERVAL_MS);
}
