import { LRUCache } from "lru-cache";
import type { Address, Hex } from "viem";
import type { ChainClient } from "./client.js";
import { readStored } from "./stored-values.js";

/** There is a limit because anonymous callers choose the keys. */
const MAX_STORED_KEYS = 10_000;

/** Reports whether a key is stored. A stored key stays stored, so a key is read from the chain only until it is. */
export class StoredKeyCache {
  readonly #stored = new LRUCache<string, true>({ max: MAX_STORED_KEYS });

  constructor(private readonly client: ChainClient) {}

  /** Reports whether a key is remembered as stored. It makes no request. */
  remembers(dataset: Address, key: Hex): boolean {
    return this.#stored.has(`${dataset} ${key}`);
  }

  /** @throws RpcError */
  async has(dataset: Address, key: Hex): Promise<boolean> {
    if (this.remembers(dataset, key)) return true;
    const { updatedAt } = await readStored(this.client, dataset, key, "latest");
    if (updatedAt > 0n) this.#stored.set(`${dataset} ${key}`, true);
    return updatedAt > 0n;
  }
}
