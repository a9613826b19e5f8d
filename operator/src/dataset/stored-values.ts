import type { QueryResult } from "@dataset-oracle/protocol/client/query-result";
import { simulateQueries } from "@dataset-oracle/protocol/client/simulate-queries";
import { simulateQuery } from "@dataset-oracle/protocol/client/simulate-query";
import { LRUCache } from "lru-cache";
import { type BlockTag, type Hex, size } from "viem";
import { rpcErrorIn, unwrapRpcError } from "../rpc/rpc-error.js";
import type { DatasetContract } from "./contract.js";

/** Nodes limit a call's size and gas. Keys of this total size cost about five million gas. */
const MAX_CALL_BYTES = 40_000;
/** The number of calls at a time when each key needs its own. */
const MAX_SINGLE_CALLS = 8;

/**
 * Reads the stored value of a key by a query that is simulated, and so not paid for.
 *
 * @throws RpcError
 */
export function readStored({ client, address }: DatasetContract, key: Hex, blockTag: BlockTag): Promise<QueryResult> {
  return unwrapRpcError(client, "eth_call", simulateQuery(client, { dataset: address, key, blockTag }));
}

/**
 * Reads the stored values of many keys, hundreds with each call. All values of one call are from the same state.
 *
 * @returns The values by key, in the order of the keys.
 * @throws RpcError
 */
export async function readManyStored(
  dataset: DatasetContract,
  keys: readonly Hex[],
  blockTag: BlockTag,
): Promise<ReadonlyMap<Hex, QueryResult>> {
  const stored = new Map<Hex, QueryResult>();
  for (const some of chunks(keys)) {
    for (const [index, point] of (await readChunk(dataset, some, blockTag)).entries()) {
      stored.set(some[index] as Hex, point);
    }
  }
  return stored;
}

/** Reads all in one call, which one key does not need; key by key if the node refuses or ignores the lens, which is a state override of code. */
async function readChunk(
  dataset: DatasetContract,
  keys: readonly Hex[],
  blockTag: BlockTag,
): Promise<readonly QueryResult[]> {
  try {
    if (keys.length > 1) return await simulateQueries(dataset.client, { dataset: dataset.address, keys, blockTag });
  } catch (error) {
    const rpcError = rpcErrorIn(error);
    if (rpcError !== null && rpcError.kind !== "refused") throw rpcError;
  }
  const points: QueryResult[] = [];
  while (points.length < keys.length) {
    const some = keys.slice(points.length, points.length + MAX_SINGLE_CALLS);
    points.push(...(await Promise.all(some.map((key) => readStored(dataset, key, blockTag)))));
  }
  return points;
}

/** Splits keys into chunks that each fit into one call. */
function chunks(keys: readonly Hex[]): Hex[][] {
  const all: Hex[][] = [];
  let room = 0;
  for (const key of keys) {
    // Offset, length and padding take less than 96 bytes.
    const needed = size(key) + 96;
    if (needed > room) {
      all.push([]);
      room = MAX_CALL_BYTES;
    }
    room -= needed;
    all.at(-1)?.push(key);
  }
  return all;
}

/** There is a limit because anonymous callers choose the keys. */
const MAX_STORED_KEYS = 10_000;

/** Knows which keys of a dataset are stored. A stored key stays stored, so a key is read from the chain only until it is. */
export class StoredKeyCache {
  readonly #stored = new LRUCache<Hex, true>({ max: MAX_STORED_KEYS });

  constructor(private readonly dataset: DatasetContract) {}

  /** Reports whether a key is remembered as stored. It makes no request. */
  remembers(key: Hex): boolean {
    return this.#stored.has(key);
  }

  /** @throws RpcError */
  async has(key: Hex): Promise<boolean> {
    if (this.remembers(key)) return true;
    const { updatedAt } = await readStored(this.dataset, key, "latest");
    if (updatedAt > 0n) this.#stored.set(key, true);
    return updatedAt > 0n;
  }
}
