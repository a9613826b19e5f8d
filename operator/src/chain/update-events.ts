import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { QUERY_STATUSES, type QueryStatus } from "@dataset-oracle/protocol/query-status";
import { type Address, type Hex, keccak256 } from "viem";
import { getContractEvents } from "viem/actions";
import type { Clock } from "../process-context.js";
import { readBlockNumber } from "./blocks.js";
import type { ChainClient } from "./client.js";
import { RpcError, unwrapRpcError } from "./rpc-error.js";

/** One update of a key, from its event. */
export interface PastUpdate {
  /** 32 bytes; zero unless OK. */
  readonly value: Hex;
  readonly status: QueryStatus;
  /** The round, in seconds since 1970. */
  readonly timestamp: bigint;
  readonly blockNumber: number;
  readonly transactionHash: Hex;
}

/** An update of any key. */
export interface KeyedUpdate extends PastUpdate {
  readonly keyHash: Hex;
}

/** Block numbers, both inclusive. */
export interface Blocks {
  readonly from: number;
  readonly to: number;
}

/** How far back the transaction that stored a recent round is searched for. */
const RECENT_BLOCKS = 100;
const FIRST_WINDOW = 2_000;
const MAX_CALLS = 100;
const MAX_MS = 10_000;

/**
 * Reads the updates of a data point in a range of blocks, from the end backwards, until there are enough, or it takes
 * too long or too many calls. Nodes limit the logs of one call, each in its own way: a window of blocks that is refused
 * is halved.
 *
 * @param take Called with the updates of some whole blocks, the newest first; returns true once there are enough.
 * @returns The first block that was read: there can be more updates before it.
 * @throws RpcError when a call fails, or the node refuses even a single block.
 */
export async function readUpdatesBackwards(
  client: ChainClient,
  dataset: Address,
  key: Hex,
  blocks: Blocks,
  clock: Clock,
  take: (updates: readonly PastUpdate[]) => boolean,
): Promise<number> {
  const giveUpAt = clock() + MAX_MS;
  let window = FIRST_WINDOW;
  let next = blocks.to;
  for (let calls = 0; next >= blocks.from; calls++) {
    const hasRead = next < blocks.to;
    if (hasRead && (calls === MAX_CALLS || clock() > giveUpAt)) break;
    const first = Math.max(blocks.from, next - window + 1);
    try {
      const updates = await readUpdates(client, dataset, key, first, next);
      next = first - 1;
      if (take(updates.toReversed())) break;
    } catch (error) {
      if (!(error instanceof RpcError) || error.kind !== "refused" || window === 1) throw error;
      window = Math.ceil(Math.min(window, next - first + 1) / 2);
    }
  }
  return next + 1;
}

/** Finds the recent transaction that stored a round of a key; null when there is none. */
export async function findUpdate(
  client: ChainClient,
  dataset: Address,
  key: Hex,
  timestamp: bigint,
): Promise<Hex | null> {
  const head = await readBlockNumber(client);
  const updates = await readUpdates(client, dataset, key, Math.max(0, head - RECENT_BLOCKS), "latest");
  return updates.find((update) => update.timestamp === timestamp)?.transactionHash ?? null;
}

/**
 * Reads the updates of a dataset in a range of blocks, both inclusive; the oldest first.
 *
 * @param key Null for those of all keys.
 * @throws RpcError
 */
export async function readUpdates(
  client: ChainClient,
  dataset: Address,
  key: Hex | null,
  from: number,
  to: number | "latest",
): Promise<readonly KeyedUpdate[]> {
  const events = getContractEvents(client, {
    address: dataset,
    abi: datasetAbi,
    eventName: "Updated",
    ...(key !== null && { args: { keyHash: keccak256(key) } }),
    fromBlock: BigInt(from),
    toBlock: to === "latest" ? to : BigInt(to),
    strict: true,
  });
  return (await unwrapRpcError(client, "eth_getLogs", events)).map(({ args, blockNumber, transactionHash }) => {
    const { keyHash, value, timestamp, status } = args;
    const named = QUERY_STATUSES[status] ?? "INVALID";
    return { keyHash, value, status: named, timestamp, blockNumber: Number(blockNumber), transactionHash };
  });
}
