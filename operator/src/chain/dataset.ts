import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { type Committee, committeeHash } from "@dataset-oracle/protocol/committee";
import { QUERY_STATUSES, type QueryStatus } from "@dataset-oracle/protocol/report";
import { type Static, Type } from "@sinclair/typebox";
import {
  type Address,
  decodeEventLog,
  decodeFunctionResult,
  encodeEventTopics,
  encodeFunctionData,
  type Hex,
  hexToNumber,
  keccak256,
  numberToHex,
} from "viem";
import { Bytes32, Data, Quantity, type Rpc, RpcError, requestAs, requestQuantity } from "./rpc.js";

/** What a dataset has stored of a key. */
export interface StoredPoint {
  /** 32 bytes. */
  readonly value: Hex;
  /** Seconds since 1970; 0 if never. */
  readonly updatedAt: bigint;
  readonly status: QueryStatus;
}

/** Nobody's account: it is lent, within one call and only there, what a query costs. */
export const READER: Address = "0x00000000000000000000000000000000000c0de1";
/** How far back the transaction that stored a fresh round is looked for. */
const RECENT_BLOCKS = 100;

type Tag = "latest" | "pending";

/** A committee that a dataset has. */
export interface StoredCommittee extends Committee {
  /** What the dataset stores of it. */
  readonly hash: Hex;
}

/** The present committee, from the one block that holds its event, checked against the stored hash. */
export async function readCommittee(rpc: Rpc, dataset: Address): Promise<StoredCommittee> {
  const [hash, block] = await Promise.all([
    readView(rpc, dataset, "committeeHash"),
    readView(rpc, dataset, "committeeBlock"),
  ]);
  const at = numberToHex(block);
  const logs = await readLogs(
    rpc,
    dataset,
    at,
    at,
    encodeEventTopics({ abi: datasetAbi, eventName: "CommitteeChanged" }),
  );
  for (const log of logs) {
    const { args } = decode(rpc, "eth_getLogs", () =>
      decodeEventLog({ abi: datasetAbi, eventName: "CommitteeChanged", ...log }),
    );
    if (committeeHash(args) === hash) return { ...args, hash };
  }
  throw new RpcError(
    "failed",
    rpc.chainId,
    "eth_getLogs",
    `block ${block} has no event of the committee of ${dataset}`,
  );
}

export function readCommitteeHash(rpc: Rpc, dataset: Address): Promise<Hex> {
  return readView(rpc, dataset, "committeeHash");
}

/** The price of one query, in wei. */
export function readQueryPrice(rpc: Rpc, dataset: Address): Promise<bigint> {
  return readView(rpc, dataset, "queryPrice");
}

/** How old a round may be when it is stored, in seconds. */
export function readMaxRoundAge(rpc: Rpc, dataset: Address): Promise<bigint> {
  return readView(rpc, dataset, "maxRoundAge");
}

/** The index of the dataset's key form. */
export function readKeyForm(rpc: Rpc, dataset: Address): Promise<number> {
  return readView(rpc, dataset, "keyForm");
}

/** What is stored of a key, read as anyone reads it, but without paying. */
export async function readPoint(rpc: Rpc, dataset: Address, key: Hex, tag: Tag): Promise<StoredPoint> {
  const price = await readView(rpc, dataset, "queryPrice", tag);
  const data = encodeFunctionData({ abi: datasetAbi, functionName: "query", args: [key] });
  const call = { from: READER, to: dataset, data, value: numberToHex(price) };
  const result = await requestAs(rpc, Data, "eth_call", [call, tag, { [READER]: { balance: numberToHex(price) } }]);
  const [value, updatedAt, status] = decode(rpc, "eth_call", () =>
    decodeFunctionResult({ abi: datasetAbi, functionName: "query", data: result }),
  );
  return { value, updatedAt, status: QUERY_STATUSES[status] ?? "INVALID" };
}

/** The recent transaction that stored a round of a key, or null when none is found. */
export async function findUpdate(rpc: Rpc, dataset: Address, key: Hex, timestamp: bigint): Promise<Hex | null> {
  const head = Number(await requestQuantity(rpc, "eth_blockNumber", []));
  const updates = await readUpdates(rpc, dataset, key, Math.max(0, head - RECENT_BLOCKS), "latest");
  return updates.find((update) => update.timestamp === timestamp)?.transactionHash ?? null;
}

/** One update of a key, as its event says. */
export interface PastUpdate {
  /** 32 bytes; zero unless OK. */
  readonly value: Hex;
  readonly status: QueryStatus;
  /** The round's, in seconds since 1970. */
  readonly timestamp: bigint;
  readonly blockNumber: number;
  readonly transactionHash: Hex;
}

/** The updates of a key in a range of blocks, both inclusive; the oldest first. */
export async function readUpdates(
  rpc: Rpc,
  dataset: Address,
  key: Hex,
  from: number,
  to: number | "latest",
): Promise<readonly PastUpdate[]> {
  const topics = encodeEventTopics({ abi: datasetAbi, eventName: "Updated", args: { keyHash: keccak256(key) } });
  const toBlock = to === "latest" ? to : numberToHex(to);
  const logs = await readLogs(rpc, dataset, numberToHex(from), toBlock, topics);
  return logs.map((log) => {
    const { args } = decode(rpc, "eth_getLogs", () =>
      decodeEventLog({ abi: datasetAbi, eventName: "Updated", ...log }),
    );
    const { value, timestamp, status } = args;
    const { transactionHash, blockNumber } = log;
    const named = QUERY_STATUSES[status] ?? "INVALID";
    return { value, status: named, timestamp, blockNumber: hexToNumber(blockNumber), transactionHash };
  });
}

interface Views {
  readonly committeeHash: Hex;
  readonly committeeBlock: bigint;
  readonly queryPrice: bigint;
  readonly maxRoundAge: bigint;
  readonly keyForm: number;
}

async function readView<N extends keyof Views>(
  rpc: Rpc,
  dataset: Address,
  functionName: N,
  tag: Tag = "latest",
): Promise<Views[N]> {
  const name: keyof Views = functionName;
  const data = encodeFunctionData({ abi: datasetAbi, functionName: name });
  const result = await requestAs(rpc, Data, "eth_call", [{ to: dataset, data }, tag]);
  return decode(rpc, "eth_call", () =>
    decodeFunctionResult({ abi: datasetAbi, functionName: name, data: result }),
  ) as Views[N];
}

/** @throws RpcError when what a call returned, or a log, is not of the dataset's interface. */
export function decode<T>(rpc: Rpc, method: "eth_call" | "eth_getLogs", read: () => T): T {
  try {
    return read();
  } catch {
    throw new RpcError("failed", rpc.chainId, method, "answered something that no dataset answers");
  }
}

const Log = Type.Object({
  data: Data,
  topics: Type.Unsafe<[Hex, ...Hex[]]>(Type.Array(Bytes32, { minItems: 1, maxItems: 4 })),
  transactionHash: Bytes32,
  blockNumber: Quantity,
});
const Logs = Type.Array(Log);

/** The logs of a contract in a range of blocks, the oldest first. */
export async function readLogs(
  rpc: Rpc,
  address: Address,
  fromBlock: string,
  toBlock: string,
  topics: readonly unknown[],
): Promise<readonly Static<typeof Log>[]> {
  return requestAs(rpc, Logs, "eth_getLogs", [{ address, fromBlock, toBlock, topics }]);
}
