import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { QUERY_STATUSES, type QueryStatus } from "@dataset-oracle/protocol/query-status";
import { type Hex, keccak256 } from "viem";
import { getContractEvents } from "viem/actions";
import { readBlockNumber } from "../rpc/blocks.js";
import { nullFor, RpcError, unwrapRpcError } from "../rpc/rpc-error.js";
import type { DatasetContract } from "./contract.js";

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

/** How far back the transaction that stored a recent round is searched for. */
const RECENT_BLOCKS = 100;
/** How many calls one search takes at most. */
const MAX_CALLS = 12;

/**
 * Finds the recent transaction that stored a round of a key.
 *
 * @returns Its hash; null if no endpoint shows it: many limit logs, and an answer can do without.
 */
export async function findUpdate(dataset: DatasetContract, key: Hex, round: bigint): Promise<Hex | null> {
  try {
    const head = await readBlockNumber(dataset.client);
    const from = Math.max(0, head - RECENT_BLOCKS + 1);
    for await (const updates of searchUpdates(dataset, keccak256(key), from, head)) {
      const found = updates.find(({ timestamp }) => timestamp === round);
      if (found !== undefined) return found.transactionHash;
    }
    return null;
  } catch (error) {
    return nullFor(RpcError)(error);
  }
}

/**
 * Searches the newest blocks for updates, backwards: all at once or, where nodes refuse that, a tenth or a hundredth of them
 * at a time, as far as a bounded number of calls goes.
 *
 * @param keyHash The keccak256 of a key; null for the updates of all keys.
 * @throws RpcError
 */
export async function* searchUpdates(
  dataset: DatasetContract,
  keyHash: Hex | null,
  from: number,
  head: number,
): AsyncGenerator<readonly PastUpdate[]> {
  let size = head - from + 1;
  for (let calls = 0, last = head; last >= from && calls < MAX_CALLS; calls++) {
    const first = Math.max(from, last - size + 1);
    const to = first === from && last === head ? "latest" : last;
    const refused = (error: unknown) => {
      if (size > 1 && error instanceof RpcError && error.kind === "refused") return null;
      throw error;
    };
    const updates = await readUpdates(dataset, keyHash, first, to).catch(refused);
    if (updates === null) size = Math.ceil(size / 10);
    else {
      yield updates;
      last = first - 1;
    }
  }
}

/**
 * Reads the updates of a dataset in a range of blocks, both inclusive; the oldest first.
 *
 * @param keyHash The keccak256 of a key; null for the updates of all keys.
 * @throws RpcError
 */
export async function readUpdates(
  { client, address }: DatasetContract,
  keyHash: Hex | null,
  from: number,
  to: number | "latest",
): Promise<readonly PastUpdate[]> {
  const events = getContractEvents(client, {
    address,
    abi: datasetAbi,
    eventName: "Updated",
    ...(keyHash !== null && { args: { keyHash } }),
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
