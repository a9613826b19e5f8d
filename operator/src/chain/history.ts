import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { QUERY_STATUSES, type QueryStatus } from "@dataset-oracle/protocol/report";
import { type Address, type Hex, keccak256 } from "viem";
import { getContractEvents } from "viem/actions";
import type { Clock } from "../clock.js";
import { type ChainClient, readBlockNumber, unwrapRpcError } from "./client.js";
import { RpcError } from "./rpc-error.js";

/** One update of a key, from its event. */
export interface PastUpdate {
  /** 32 bytes; zero unless OK. */
  readonly value: Hex;
  readonly status: QueryStatus;
  /** The round's, in seconds since 1970. */
  readonly timestamp: bigint;
  readonly blockNumber: number;
  readonly transactionHash: Hex;
}

/** The updates of a data point in a range of blocks. */
export interface History {
  /** The first block that was read: there can be more updates before it. */
  readonly from: number;
  /** The newest first; all of each block. */
  readonly updates: readonly PastUpdate[];
}

export interface Span {
  /** Block numbers, both inclusive. */
  readonly from: number;
  readonly to: number;
  /** The number of updates after which reading stops; those of the last block are all returned. */
  readonly limit: number;
}

/** How far back the transaction that stored a fresh round is searched for. */
const RECENT_BLOCKS = 100;
const FIRST_WINDOW = 2_000;
const MAX_CALLS = 100;
const MAX_MS = 10_000;

/**
 * Reads the updates of a data point back from a block, until there are enough, or it took too long. Nodes limit the logs
 * of one call, each in its own way: a window of blocks that is refused is halved.
 *
 * @throws RpcError when not even one block can be read.
 */
export async function readHistory(
  client: ChainClient,
  dataset: Address,
  key: Hex,
  span: Span,
  clock: Clock,
): Promise<History> {
  const giveUpAt = clock() + MAX_MS;
  const updates: PastUpdate[] = [];
  let window = FIRST_WINDOW;
  let next = span.to;
  for (let calls = 0; next >= span.from && updates.length < span.limit; calls++) {
    const hasRead = next < span.to;
    if (hasRead && (calls === MAX_CALLS || clock() > giveUpAt)) break;
    const first = Math.max(span.from, next - window + 1);
    try {
      updates.push(...(await readUpdates(client, dataset, key, first, next)).toReversed());
      next = first - 1;
    } catch (error) {
      if (!(error instanceof RpcError) || error.kind !== "refused" || window === 1) throw error;
      window = Math.ceil(Math.min(window, next - first + 1) / 2);
    }
  }
  const last = updates[span.limit - 1];
  if (last === undefined) return { from: next + 1, updates };
  return { from: last.blockNumber, updates: updates.filter(({ blockNumber }) => blockNumber >= last.blockNumber) };
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

/** Reads the updates of a key in a range of blocks, both inclusive; the oldest first. */
export async function readUpdates(
  client: ChainClient,
  dataset: Address,
  key: Hex,
  from: number,
  to: number | "latest",
): Promise<readonly PastUpdate[]> {
  const events = getContractEvents(client, {
    address: dataset,
    abi: datasetAbi,
    eventName: "Updated",
    args: { keyHash: keccak256(key) },
    fromBlock: BigInt(from),
    toBlock: to === "latest" ? to : BigInt(to),
    strict: true,
  });
  return (await unwrapRpcError(client, "eth_getLogs", events)).map(({ args, blockNumber, transactionHash }) => {
    const { value, timestamp, status } = args;
    const named = QUERY_STATUSES[status] ?? "INVALID";
    return { value, status: named, timestamp, blockNumber: Number(blockNumber), transactionHash };
  });
}
