import type { Clock } from "@dataset-oracle/service/process/context";
import { LRUCache } from "lru-cache";
import type { PastUpdate } from "../../dataset/update-events.js";
import { type Blocks, readBlock, readHead } from "../../rpc/blocks.js";
import type { ChainClient } from "../../rpc/client.js";
import { RpcError } from "../../rpc/rpc-error.js";

/** The chain may still replace this many of its newest blocks, and an RPC endpoint may lag behind. */
const UNSETTLED_BLOCKS = 64;
/** How many blocks are read at a time, a power of two. Nodes limit the logs of one call, each in its own way. */
const WINDOW_BLOCKS = 2_048;
/** How long windows stay small that were refused: soon it can be another endpoint that answers, or the cause is gone. */
const REFUSED_MS = 10_000;
/** How many updates are held, with about 300 bytes each. Beyond them, those that were not asked for longest are dropped. */
const MAX_HELD = 100_000;

/** The updates of one key. */
interface UpdateSource {
  /** Distinguishes it from the network's other sources. */
  readonly id: string;
  /** Reads the updates in a window of blocks, both inclusive; the oldest first. It throws RpcErrors. */
  read(from: number, to: number): Promise<readonly PastUpdate[]>;
}

/** The updates in a window of blocks, the newest first. */
interface UpdatesInWindow {
  /** The window's first block. */
  readonly from: number;
  readonly updates: readonly PastUpdate[];
}

/**
 * Reads the updates of one network backwards, window by window, and holds in memory what the chain does not replace any more.
 * It is never a source of truth: everything is read from the chain, anew after every start.
 *
 * Windows begin at multiples of their size, so that later requests find them. The hash of the newest settled block is
 * kept: if the chain has another one there, everything is forgotten.
 */
export class PastUpdates {
  readonly #held = new LRUCache<string, readonly PastUpdate[]>({
    maxSize: MAX_HELD,
    sizeCalculation: (updates) => updates.length + 1,
  });
  #head: string | null = null;
  #settled: { readonly number: number; readonly hash: string | null } = { number: -1, hash: null };
  /** The largest window that was not refused, and until when no larger one is tried, by the monotonic clock. */
  #taken = { size: WINDOW_BLOCKS, until: Number.NEGATIVE_INFINITY };

  constructor(
    private readonly client: ChainClient,
    private readonly clock: Clock,
  ) {}

  /**
   * Reads the number of the newest block. Called before updates are read, it forgets those that the chain has replaced.
   *
   * @throws RpcError
   */
  async readHead(): Promise<number> {
    const { client } = this;
    const head = await readHead(client);
    if (head.hash === this.#head) return head.number;
    const { number, hash } = this.#settled;
    // An endpoint that lags has no block there yet. None that is read lags as much: then that block was invented.
    const isInvented = number - head.number > UNSETTLED_BLOCKS;
    if (isInvented || (hash !== null && ((await readBlock(client, number))?.hash ?? hash) !== hash)) {
      this.#held.clear();
      this.#settled = { number: -1, hash: null };
    }
    const settled = head.number - UNSETTLED_BLOCKS;
    // An endpoint that lags a little shows a lower head.
    if (settled > this.#settled.number) {
      const block = await readBlock(client, settled);
      if (block !== null) this.#settled = block;
    }
    this.#head = head.hash;
    return head.number;
  }

  /**
   * Reads the updates in a range of blocks that ends at the head or before it, from its end backwards, until it takes too
   * long. A window that the node refuses is halved.
   *
   * @throws RpcError when a call fails, or the node refuses even a single block.
   */
  async *backwards(source: UpdateSource, { from, to }: Blocks, maxMs: number): AsyncGenerator<UpdatesInWindow> {
    const giveUpAt = this.clock.monotonic() + maxMs;
    let size = this.clock.monotonic() < this.#taken.until ? this.#taken.size : WINDOW_BLOCKS;
    let isHalved = false;
    for (let last = to; last >= from && this.clock.monotonic() <= giveUpAt; ) {
      const first = last - (last % size);
      let updates: readonly PastUpdate[];
      try {
        updates = await this.#window(source, first, size, last);
      } catch (error) {
        const isRefused = error instanceof RpcError && (error.kind === "refused" || error.meaning === "not_offered");
        if (!isRefused || size === 1) throw error;
        size /= 2;
        isHalved = true;
        continue;
      }
      if (isHalved) this.#taken = { size, until: this.clock.monotonic() + REFUSED_MS };
      isHalved = false;
      const inRange = updates.filter(({ blockNumber }) => blockNumber >= from && blockNumber <= to);
      yield { from: Math.max(first, from), updates: inRange.toReversed() };
      last = first - 1;
    }
  }

  /** Reads a window: all of it if it is settled, else up to the last block that is wanted. */
  async #window({ id, read }: UpdateSource, first: number, size: number, last: number): Promise<readonly PastUpdate[]> {
    const end = first + size - 1;
    if (end > this.#settled.number) return read(first, last);
    const name = `${id} ${first} ${size}`;
    const known = this.#held.get(name);
    if (known !== undefined) return known;
    const updates = await read(first, end);
    this.#held.set(name, updates);
    return updates;
  }
}
