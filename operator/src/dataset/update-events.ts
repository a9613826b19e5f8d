import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { QUERY_STATUSES, type QueryStatus } from "@dataset-oracle/protocol/query-status";
import { type Hex, keccak256 } from "viem";
import { getContractEvents } from "viem/actions";
import { readBlockNumber } from "../rpc/blocks.js";
import { unwrapRpcError } from "../rpc/rpc-error.js";
import type { DatasetContract } from "./contract.js";

/** One update of a key, from its event. */
export interface PastUpdate {
  readonly keyHash: Hex;
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

/**
 * Finds the recent transactions that stored rounds of keys, all in one search.
 *
 * @param rounds The rounds, by key.
 * @returns The hashes of those that were found, by key.
 * @throws RpcError
 */
export async function findUpdates(
  dataset: DatasetContract,
  rounds: ReadonlyMap<Hex, bigint>,
): Promise<ReadonlyMap<Hex, Hex>> {
  // A search for no keys would find the updates of all.
  if (rounds.size === 0) return new Map();
  const keyOf = new Map([...rounds.keys()].map((key) => [keccak256(key), key]));
  const head = await readBlockNumber(dataset.client);
  const updates = await readUpdates(dataset, [...keyOf.keys()], Math.max(0, head - RECENT_BLOCKS), "latest");
  const found = updates.flatMap(({ keyHash, timestamp, transactionHash }) => {
    const key = keyOf.get(keyHash);
    return key !== undefined && rounds.get(key) === timestamp ? [[key, transactionHash] as const] : [];
  });
  return new Map(found);
}

/**
 * Reads the updates of a dataset in a range of blocks, both inclusive; the oldest first.
 *
 * @param keyHashes The keccak256 of the keys; null for the updates of all keys.
 * @throws RpcError
 */
export async function readUpdates(
  { client, address }: DatasetContract,
  keyHashes: readonly Hex[] | null,
  from: number,
  to: number | "latest",
): Promise<readonly PastUpdate[]> {
  const events = getContractEvents(client, {
    address,
    abi: datasetAbi,
    eventName: "Updated",
    ...(keyHashes !== null && { args: { keyHash: keyHashes } }),
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
