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

/**
 * Finds the recent transaction that stored a round of a key.
 *
 * @returns Its hash; null if no endpoint shows it: many limit logs, and an answer can do without.
 */
export async function findUpdate(dataset: DatasetContract, key: Hex, round: bigint): Promise<Hex | null> {
  const updates = await readBlockNumber(dataset.client)
    .then((head) => readUpdates(dataset, keccak256(key), Math.max(0, head - RECENT_BLOCKS), "latest"))
    .catch(nullFor(RpcError));
  return updates?.find(({ timestamp }) => timestamp === round)?.transactionHash ?? null;
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
