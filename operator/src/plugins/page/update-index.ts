import { setTimeout as delay } from "node:timers/promises";
import { type Hex, keccak256 } from "viem";
import type { Context } from "../../context.js";
import type { DatasetContract } from "../../dataset/contract.js";
import { type KeyedUpdate, type PastUpdate, readUpdates } from "../../dataset/update-events.js";
import { type Block, type Blocks, halveWindow, readBlockHash, readHead } from "../../rpc/blocks.js";
import { describeError, RpcError } from "../../rpc/rpc-error.js";
import type { PageSettings } from "./settings.js";

/**
 * This many of the newest blocks are read again each time: the chain may still replace them, and an RPC endpoint may
 * lag behind.
 */
const UNSETTLED_BLOCKS = 64;
/** After a longer pause the index begins again at the head, so that nobody waits for more. */
const MAX_GAP_BLOCKS = 5_000;
const FIRST_WINDOW = 250;
const MAX_WINDOW = 2_000;
/** A call with more updates than this makes the window of the next one smaller. */
const MANY_UPDATES = 2_000;
const MAX_REFRESH_MS = 10_000;
/** How often the index is brought up to date while nobody asks, so that the gap stays small. */
const KEEP_MS = 30_000;
/** The pause between two calls for older blocks, and the one after a failure. */
const NEXT_MS = 50;
const FAILED_MS = 10_000;
/** This fraction of the updates is dropped at a time, because finding the oldest takes a pass over all of them. */
const DROPPED_PART = 0.1;

type ByKey = Map<Hex, PastUpdate[]>;

/**
 * The updates of all keys of a dataset in a range of blocks that ends at the head, in memory. It is never a source of
 * truth: it is read from the chain's events, anew after every start. It begins at the head when it is first asked for, and
 * reads back from there by itself.
 *
 * Its newest blocks are unsettled, and replaced by each reading. The hash of the newest settled block is kept: if the
 * chain has another one there, the index begins again.
 */
export class UpdateIndex {
  /** The oldest first, as in `#unsettled`. */
  #settled: ByKey = new Map();
  #unsettled: ByKey = new Map();
  #count = 0;
  /** True once updates were dropped: older blocks are then not read again. */
  #isFull = false;
  #from = 0;
  #settledTo = -1;
  #settledHash: Hex | null = null;
  #head: Block | null = null;
  #window = FIRST_WINDOW;
  #maxWindow = MAX_WINDOW;
  #reading: Promise<number> | null = null;
  #isKept = false;

  constructor(
    private readonly dataset: DatasetContract,
    /** How many blocks it reaches back, and how many updates it holds. Beyond them the oldest are dropped. */
    private readonly limits: Pick<PageSettings, "historyBlocks" | "historyUpdates">,
    private readonly context: Pick<Context, "clock" | "logger" | "closing">,
  ) {}

  /** The blocks that it covers, both inclusive; none, ending at -1, while it begins again. */
  get blocks(): Blocks {
    return { from: this.#from, to: this.#head?.number ?? -1 };
  }

  /**
   * Reads the blocks that have been added to the chain, or replaced.
   *
   * @returns The number of the newest block.
   * @throws RpcError
   */
  refresh(): Promise<number> {
    if (!this.#isKept) {
      this.#isKept = true;
      void this.#keep();
    }
    this.#reading ??= this.#readOn().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  /** Returns the updates of a key in the covered blocks of a range, the newest first. */
  updatesOf(key: Hex, { from, to }: Blocks): readonly PastUpdate[] {
    const keyHash = keccak256(key);
    // While blocks are being settled, they are still among the unsettled ones.
    const unsettled = this.#unsettled.get(keyHash)?.filter(({ blockNumber }) => blockNumber > this.#settledTo) ?? [];
    const found: PastUpdate[] = [];
    for (const updates of [unsettled, this.#settled.get(keyHash) ?? []]) {
      for (const update of updates.toReversed()) {
        if (update.blockNumber < from) return found;
        if (update.blockNumber <= to) found.push(update);
      }
    }
    return found;
  }

  async #readOn(): Promise<number> {
    const giveUpAt = this.context.clock() + MAX_REFRESH_MS;
    const head = await readHead(this.dataset.client);
    if (head.hash === this.#head?.hash) return head.number;
    const settled = Math.max(-1, head.number - UNSETTLED_BLOCKS);
    if (this.#head === null || settled - this.#settledTo > MAX_GAP_BLOCKS || (await this.#isReplaced(head.number))) {
      await this.#beginAt(settled);
    }
    while (this.#settledTo < settled) {
      this.#checkDeadline(giveUpAt);
      await this.#settleSome(settled);
    }
    const updates: KeyedUpdate[] = [];
    for (let next = this.#settledTo + 1; next <= head.number; ) {
      this.#checkDeadline(giveUpAt);
      const read = await this.#readWindow((window) => ({ from: next, to: Math.min(head.number, next + window - 1) }));
      updates.push(...read.updates);
      next = read.to + 1;
    }
    this.#unsettled = byKey(updates);
    this.#head = head;
    this.#dropOldest();
    return head.number;
  }

  /** Tells whether the chain has another block where the newest settled one was. */
  async #isReplaced(head: number): Promise<boolean> {
    if (head < this.#settledTo) return true;
    if (this.#settledHash === null) return false;
    return (await readBlockHash(this.dataset.client, this.#settledTo)) !== this.#settledHash;
  }

  async #beginAt(settled: number): Promise<void> {
    const hash = settled < 0 ? null : await readBlockHash(this.dataset.client, settled);
    if (this.#head !== null) this.context.logger.info({ dataset: this.dataset.address }, "the history is read again");
    [this.#settled, this.#unsettled, this.#head] = [new Map(), new Map(), null];
    [this.#count, this.#isFull] = [0, false];
    [this.#from, this.#settledTo, this.#settledHash] = [settled + 1, settled, hash];
  }

  /** Reads some of the blocks that can no longer be replaced. */
  async #settleSome(settled: number): Promise<void> {
    const next = this.#settledTo + 1;
    const to = Math.min(settled, next + this.#window - 1);
    // Read before the updates, so that a hash never stands for updates of an older chain.
    const hash = await readBlockHash(this.dataset.client, to);
    const read = await this.#readWindow(() => ({ from: next, to: Math.min(to, next + this.#window - 1) }));
    this.#append(read.updates);
    this.#settledTo = read.to;
    this.#settledHash = read.to === to ? hash : await readBlockHash(this.dataset.client, read.to);
  }

  /** Reads one window of older blocks. @returns False if there are none, or no room for them. */
  async #readOlderWindow(): Promise<boolean> {
    const head = this.#head?.number ?? -1;
    const first = Math.max(0, head - this.limits.historyBlocks + 1);
    const [before, settled] = [this.#from, this.#settled];
    if (before <= first || this.#isFull) return false;
    const read = await this.#readWindow((window) => ({ from: Math.max(first, before - window), to: before - 1 }));
    // It has begun again, or dropped its oldest blocks, in the meantime.
    if (this.#settled !== settled || this.#from !== before) return true;
    for (const [keyHash, updates] of byKey(read.updates)) {
      this.#settled.set(keyHash, [...updates, ...(this.#settled.get(keyHash) ?? [])]);
    }
    this.#count += read.updates.length;
    this.#from = read.from;
    this.#dropOldest();
    return true;
  }

  /** Keeps the index up to date until the process ends, and reads back as far as it may reach. */
  async #keep(): Promise<void> {
    const { closing, logger } = this.context;
    while (!closing.aborted) {
      let waitMs = KEEP_MS;
      try {
        await this.refresh();
        if (await this.#readOlderWindow()) waitMs = NEXT_MS;
      } catch (error) {
        if (!closing.aborted)
          logger.debug(
            { dataset: this.dataset.address, reason: describeError(error) },
            "the history could not be read; retrying",
          );
        waitMs = FAILED_MS;
      }
      await delay(waitMs, undefined, { signal: closing, ref: false }).catch(() => {});
    }
  }

  /** Reads a window of blocks, and halves it as long as the RPC endpoint refuses it. */
  async #readWindow(
    blocksOf: (window: number) => Blocks,
  ): Promise<Blocks & { readonly updates: readonly KeyedUpdate[] }> {
    for (;;) {
      const blocks = blocksOf(this.#window);
      try {
        const updates = await readUpdates(this.dataset, null, blocks.from, blocks.to);
        if (updates.length > MANY_UPDATES) this.#window = Math.ceil(this.#window / 2);
        else if (updates.length < MANY_UPDATES / 4) this.#window = Math.min(this.#maxWindow, 2 * this.#window);
        return { ...blocks, updates };
      } catch (error) {
        this.#window = halveWindow(blocks, error);
        this.#maxWindow = this.#window;
      }
    }
  }

  #append(updates: readonly KeyedUpdate[]): void {
    for (const [keyHash, added] of byKey(updates)) {
      const known = this.#settled.get(keyHash);
      if (known === undefined) this.#settled.set(keyHash, added);
      else known.push(...added);
    }
    this.#count += updates.length;
  }

  /** Drops the oldest blocks while there are too many updates. */
  #dropOldest(): void {
    if (this.#count <= this.limits.historyUpdates) return;
    this.#isFull = true;
    const blocks = Float64Array.from([...this.#settled.values()].flat(), ({ blockNumber }) => blockNumber).sort();
    const dropped = this.#count - Math.floor(this.limits.historyUpdates * (1 - DROPPED_PART));
    this.#from = (blocks[dropped - 1] ?? this.#settledTo) + 1;
    const kept = [...this.#settled].map(([keyHash, updates]) => {
      return [keyHash, updates.filter(({ blockNumber }) => blockNumber >= this.#from)] as const;
    });
    this.#settled = new Map(kept.filter(([, updates]) => updates.length > 0));
    this.#count = [...this.#settled.values()].reduce((sum, { length }) => sum + length, 0);
  }

  #checkDeadline(giveUpAt: number): void {
    if (this.context.clock() <= giveUpAt) return;
    throw new RpcError(
      "timeout",
      this.dataset.client.chain.id,
      "eth_getLogs",
      "the new blocks could not be read in time",
    );
  }
}

function byKey(updates: readonly KeyedUpdate[]): ByKey {
  const grouped: ByKey = new Map();
  for (const { keyHash, ...update } of updates) {
    const known = grouped.get(keyHash);
    if (known === undefined) grouped.set(keyHash, [update]);
    else known.push(update);
  }
  return grouped;
}
