import { type Hex, hexToBigInt, hexToNumber, numberToHex } from "viem";
import type { ChainClient } from "./client.js";

/** A block of the chain. */
export interface Block {
  readonly number: number;
  readonly hash: Hex;
  /** In seconds since 1970. */
  readonly timestamp: number;
  readonly gasLimit: bigint;
  /** In wei; null on a chain without one. */
  readonly baseFeePerGas: bigint | null;
}

/** What a node shows of a block, as far as it is used and checked. */
type ShownBlock = Readonly<Record<"number" | "hash" | "timestamp" | "gasLimit", Hex>> & {
  readonly baseFeePerGas?: Hex | null;
};

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
  return hexToNumber(await client.ask<Hex>("eth_blockNumber", []));
}

/**
 * Reads the newest block.
 *
 * @throws RpcError
 */
export async function readHead(client: ChainClient): Promise<Block> {
  return toBlock(await client.ask<ShownBlock>("eth_getBlockByNumber", ["latest", false]));
}

/**
 * Reads a block; null where no endpoint has it, because the chain is not that long or the endpoints lag.
 *
 * @throws RpcError
 */
export async function readBlock(client: ChainClient, number: number): Promise<Block | null> {
  const shown = await client.ask<ShownBlock | null>("eth_getBlockByNumber", [numberToHex(number), false]);
  return shown && toBlock(shown);
}

function toBlock({ number, hash, timestamp, gasLimit, baseFeePerGas = null }: ShownBlock): Block {
  return {
    number: hexToNumber(number),
    hash,
    timestamp: hexToNumber(timestamp),
    gasLimit: hexToBigInt(gasLimit),
    baseFeePerGas: baseFeePerGas && hexToBigInt(baseFeePerGas),
  };
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
  return Math.min(((newest.timestamp - older.timestamp) * 1000) / blocks, MAX_BLOCK_INTERVAL_MS);
}
