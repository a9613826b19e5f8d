import { keyToAscii } from "@dataset-oracle/protocol/key";
import { LRUCache } from "lru-cache";
import { readStored } from "../chain/stored-values.js";
import type { DataPoint } from "../data-point.js";

/** Anonymous callers choose the keys. */
const MAX_STORED_KEYS = 10_000;

/** Tells the keys that a network has from those that only a caller has named. */
export class KnownKeys {
  /** Data points that the chain has stored. A key never becomes unknown again, so each is read only once. */
  readonly #stored = new LRUCache<string, true>({ max: MAX_STORED_KEYS });

  /** Tells if the key is stored, in the deployment file, or a feed's. While the chain cannot be read, a key is not stored. */
  async isKnown(dataPoint: DataPoint): Promise<boolean> {
    const { network, dataset, key, id } = dataPoint;
    if (this.#stored.has(id)) return true;
    const ascii = keyToAscii(key);
    if (ascii !== null && dataset.keys.includes(ascii)) return true;
    const fed = network.feeds.filter((feeds) => feeds.dataset === dataset).flatMap(({ feeds }) => feeds);
    return fed.some((feed) => feed.key === key) || this.isStored(dataPoint).catch(() => false);
  }

  /** @throws RpcError */
  async isStored({ network, dataset, key, id }: DataPoint): Promise<boolean> {
    if (this.#stored.has(id)) return true;
    const { updatedAt } = await readStored(network.client, dataset.address, key, "latest");
    if (updatedAt > 0n) this.#stored.set(id, true);
    return updatedAt > 0n;
  }
}
