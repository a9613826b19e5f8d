import type { Hex } from "viem";
import type { Network } from "../network.js";

/**
 * A batch of this many stored keys, signed by four of five providers, uses about 1.05 million units of gas
 * (docs/Gas.md).
 */
const MAX_BATCH_KEYS = 100;

interface HasKey {
  readonly key: Hex;
}

/**
 * Divides the feeds of a dataset into transactions. All nodes divide them in the same way, whatever each finds due and in
 * whatever order they are configured.
 */
export class FeedChunks {
  readonly #indexOf: ReadonlyMap<Hex, number>;

  /** @param feeds All feeds of the dataset. */
  constructor(
    private readonly network: Network,
    feeds: readonly HasKey[],
  ) {
    const keys = feeds.map(({ key }) => key).toSorted();
    this.#indexOf = new Map(keys.map((key, index) => [key, index]));
  }

  /** Divides feeds into chunks. One transaction updates each chunk. */
  chunksOf<T extends HasKey>(feeds: readonly T[]): readonly (readonly T[])[] {
    if (this.network.nodes.isAlone) return split(feeds);
    const chunks = new Map<number, T[]>();
    for (const feed of this.#sorted(feeds)) {
      const chunk = this.chunkOf(feed);
      chunks.set(chunk, [...(chunks.get(chunk) ?? []), feed]);
    }
    return [...chunks.values()];
  }

  /**
   * Returns the feeds whose own transactions are started now. Nodes start only as many at each beat as one sender may have
   * pending: the others would wait in its queue past their turn.
   */
  singlesToStart<T extends HasKey>(feeds: readonly T[]): readonly T[] {
    return this.network.nodes.isAlone ? feeds : this.#sorted(feeds).slice(0, this.network.settings.maxPendingPerSender);
  }

  /** Returns the number of the chunk to which a feed always belongs. */
  chunkOf(feed: HasKey): number {
    return Math.floor(this.indexOf(feed) / MAX_BATCH_KEYS);
  }

  /** Returns the place of a feed in the order of the keys. */
  indexOf({ key }: HasKey): number {
    return this.#indexOf.get(key) ?? 0;
  }

  #sorted<T extends HasKey>(feeds: readonly T[]): readonly T[] {
    return feeds.toSorted((a, b) => this.indexOf(a) - this.indexOf(b));
  }
}

function split<T>(feeds: readonly T[]): T[][] {
  const count = Math.ceil(feeds.length / MAX_BATCH_KEYS);
  return Array.from({ length: count }, (_, i) => feeds.slice(i * MAX_BATCH_KEYS, (i + 1) * MAX_BATCH_KEYS));
}
