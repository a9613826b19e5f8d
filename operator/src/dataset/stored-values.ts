import type { QueryResult } from "@dataset-oracle/protocol/client/query-result";
import { simulateQueries } from "@dataset-oracle/protocol/client/simulate-queries";
import { simulateQuery } from "@dataset-oracle/protocol/client/simulate-query";
import { LRUCache } from "lru-cache";
import type { BlockTag, Hex } from "viem";
import { unwrapRpcError } from "../rpc/rpc-error.js";
import { type DatasetContract, readTogether } from "./contract.js";

/**
 * Reads the stored value of a key by a query that is simulated, and so not paid for.
 *
 * @throws RpcError
 */
export function readStored({ client, address }: DatasetContract, key: Hex, blockTag: BlockTag): Promise<QueryResult> {
  return unwrapRpcError(client, "eth_call", simulateQuery(client, { dataset: address, key, blockTag }));
}

/**
 * Reads the stored values of many keys: with a lens, which is a state override of code, many with each call. All
 * values of one such call are from the same state.
 *
 * @returns The values by key, in the order of the keys.
 * @throws RpcError
 */
export async function readManyStored(
  dataset: DatasetContract,
  keys: readonly Hex[],
  blockTag: BlockTag,
): Promise<ReadonlyMap<Hex, QueryResult>> {
  const { client, address } = dataset;
  const stored = await readTogether(
    keys,
    (some) => simulateQueries(client, { dataset: address, keys: some, blockTag }),
    (key) => readStored(dataset, key, blockTag),
  );
  return new Map(stored.map((point, index) => [keys[index] as Hex, point]));
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
