import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { readQueryPrice as readPrice } from "@dataset-oracle/protocol/client/read-query-price";
import { simulateQuery } from "@dataset-oracle/protocol/client/simulate-query";
import { type Committee, committeeHash } from "@dataset-oracle/protocol/committee";
import { QUERY_STATUSES, type QueryStatus } from "@dataset-oracle/protocol/report";
import { type Address, type BlockTag, type Hex, keccak256 } from "viem";
import { getBlockNumber, getContractEvents, readContract } from "viem/actions";
import { type ChainClient, unwrapRpcError } from "./client.js";
import { RpcError } from "./rpc-error.js";

/** A key's value as a dataset stores it. */
export interface StoredPoint {
  /** 32 bytes. */
  readonly value: Hex;
  /** Seconds since 1970; 0 if never. */
  readonly updatedAt: bigint;
  readonly status: QueryStatus;
}

/** How far back the transaction that stored a fresh round is searched for. */
const RECENT_BLOCKS = 100;

/** A committee that a dataset has. */
export interface StoredCommittee extends Committee {
  /** The hash of it that the dataset stores. */
  readonly hash: Hex;
}

/**
 * Reads the present committee from the one block that holds its event, and checks it against the stored hash.
 *
 * @throws RpcError
 */
export async function readCommittee(client: ChainClient, dataset: Address): Promise<StoredCommittee> {
  const [hash, block] = await Promise.all([
    readView(client, dataset, "committeeHash"),
    readView(client, dataset, "committeeBlock"),
  ]);
  const events = getContractEvents(client, {
    address: dataset,
    abi: datasetAbi,
    eventName: "CommitteeChanged",
    fromBlock: block,
    toBlock: block,
    strict: true,
  });
  const found = (await unwrapRpcError(client, "eth_getLogs", events)).find(({ args }) => committeeHash(args) === hash);
  if (found !== undefined) return { ...found.args, hash };
  const reason = `block ${block} has no event of the committee of ${dataset}`;
  throw new RpcError("failed", client.chain.id, "eth_getLogs", reason);
}

export function readCommitteeHash(client: ChainClient, dataset: Address): Promise<Hex> {
  return readView(client, dataset, "committeeHash");
}

/** Reads the price of one query, in wei. */
export function readQueryPrice(client: ChainClient, dataset: Address): Promise<bigint> {
  return unwrapRpcError(client, "eth_call", readPrice(client, { dataset }));
}

/** Reads how old a round may be when it is stored, in seconds. */
export function readMaxRoundAge(client: ChainClient, dataset: Address): Promise<bigint> {
  return readView(client, dataset, "maxRoundAge");
}

/** Reads the index of the dataset's key form. */
export function readKeyForm(client: ChainClient, dataset: Address): Promise<number> {
  return readView(client, dataset, "keyForm");
}

/** Reads the stored value of a key by a query that is simulated, and so not paid for. */
export async function readPoint(
  client: ChainClient,
  dataset: Address,
  key: Hex,
  blockTag: BlockTag,
): Promise<StoredPoint> {
  const query = simulateQuery(client, { dataset, key, blockTag });
  const { output, updatedAt, status } = await unwrapRpcError(client, "eth_call", query);
  return { value: output, updatedAt, status };
}

/** Reads the number of the newest block. */
export async function readBlockNumber(client: ChainClient): Promise<number> {
  return Number(await unwrapRpcError(client, "eth_blockNumber", getBlockNumber(client)));
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

/** Reads the keys that were added to a dataset in a range of blocks, both inclusive; the oldest first. */
export async function readAddedKeys(
  client: ChainClient,
  dataset: Address,
  from: number,
  to: number,
): Promise<readonly Hex[]> {
  const events = getContractEvents(client, {
    address: dataset,
    abi: datasetAbi,
    eventName: "KeyAdded",
    fromBlock: BigInt(from),
    toBlock: BigInt(to),
    strict: true,
  });
  return (await unwrapRpcError(client, "eth_getLogs", events)).map(({ args }) => args.key);
}

type View = "committeeHash" | "committeeBlock" | "maxRoundAge" | "keyForm";

function readView<const N extends View>(client: ChainClient, dataset: Address, functionName: N) {
  const view = readContract(client, { address: dataset, abi: datasetAbi, functionName });
  return unwrapRpcError(client, "eth_call", view);
}
