import { setTimeout as delay } from "node:timers/promises";
import { type Hex, keccak256 } from "viem";
import type { Context } from "../../context.js";
import type { DatasetContract } from "../../dataset/contract.js";
import type { Dataset } from "../../dataset/dataset.js";
import { type KeyedUpdate, type PastUpdate, readUpdates } from "../../dataset/update-events.js";
import { type Block, type Blocks, readBlockHash, readHead, readWindows } from "../../rpc/blocks.js";
import { describeError, RpcError } from "../../rpc/rpc-error.js";
import type { ServedNetwork } from "../../served-network.js";
import type { PagePlan, PageSettings } from "./settings.js";

/**
 * This many of the newest blocks are read again each time: the chain may still replace them, and an RPC endpoint may
 * lag behind.
 */
const UNSETTLED_BLOCKS = 64;
/** After a longer pause the index begins again at the head, so that nobody waits for more. */
const MAX_GAP_BLOCKS = 5_000;
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
  /** The older blocks that are still to be read. */
  #older: AsyncGenerator<Blocks & { readonly result: readonly KeyedUpdate[] }> | null = null;
  #reading: Promise<number> | null = null;
  #isKept = false;

  constructor(
    private readonly dataset: DatasetContract,
    /** How many blocks it reaches back, and how many updates it holds. Beyond them the oldest are dropped. */
    readonly limits: Pick<PageSettings, "historyBlocks" | "historyUpdates">,
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
    // An RPC endpoint that lags shows a lower head. Read before the updates, so that a hash never stands for updates of
    // an older chain.
    const settledTo = Math.max(settled, this.#settledTo);
    const hash = settledTo > this.#settledTo ? await this.#hashOf(settledTo) : this.#settledHash;
    const updates: KeyedUpdate[] = [];
    for await (const { result } of this.#windows({ from: this.#settledTo + 1, to: head.number }, "forwards")) {
      updates.push(...result);
      if (this.context.clock() > giveUpAt) throw this.#tooSlow();
    }
    const isSettled = ({ blockNumber }: KeyedUpdate) => blockNumber <= settledTo;
    this.#append(updates.filter(isSettled));
    this.#unsettled = byKey(updates.filter((update) => !isSettled(update)));
    [this.#settledTo, this.#settledHash, this.#head] = [settledTo, hash, head];
    this.#dropOldest();
    return head.number;
  }

  #windows(blocks: Blocks, direction: "forwards" | "backwards") {
    return readWindows(blocks, direction, ({ from, to }) => readUpdates(this.dataset, null, from, to));
  }

  #hashOf(block: number): Promise<Hex | null> {
    return readBlockHash(this.dataset.client, block);
  }

  /** Tells whether the chain has another block where the newest settled one was. */
  async #isReplaced(head: number): Promise<boolean> {
    if (head < this.#settledTo) return true;
    if (this.#settledHash === null) return false;
    return (await this.#hashOf(this.#settledTo)) !== this.#settledHash;
  }

  async #beginAt(settled: number): Promise<void> {
    const hash = settled < 0 ? null : await this.#hashOf(settled);
    if (this.#head !== null) this.context.logger.info({ dataset: this.dataset.address }, "the history is read again");
    [this.#settled, this.#unsettled, this.#head] = [new Map(), new Map(), null];
    [this.#count, this.#isFull, this.#older] = [0, false, null];
    [this.#from, this.#settledTo, this.#settledHash] = [settled + 1, settled, hash];
  }

  /** Reads one window of older blocks. @returns False if there are none, or no room for them. */
  async #readOlderWindow(): Promise<boolean> {
    const head = this.#head?.number ?? -1;
    const first = Math.max(0, head - this.limits.historyBlocks + 1);
    const [before, settled] = [this.#from, this.#settled];
    if (before <= first || this.#isFull) return false;
    this.#older ??= this.#windows({ from: first, to: before - 1 }, "backwards");
    const { value: read } = await this.#older.next();
    // It has begun again, or dropped its oldest blocks, in the meantime.
    if (read === undefined || this.#settled !== settled || this.#from !== before) {
      this.#older = null;
      return read !== undefined;
    }
    for (const [keyHash, updates] of byKey(read.result)) {
      this.#settled.set(keyHash, [...updates, ...(this.#settled.get(keyHash) ?? [])]);
    }
    this.#count += read.result.length;
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
        this.#older = null;
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

  #tooSlow(): RpcError {
    return new RpcError(
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

/** The indexes of all datasets that are served. */
export class UpdateIndexes {
  readonly #indexes = new Map<Dataset, UpdateIndex>();

  constructor(
    networks: ReadonlyMap<number, ServedNetwork>,
    plans: readonly PagePlan[],
    context: Pick<Context, "clock" | "logger" | "closing">,
  ) {
    for (const { deployment, settings } of plans) {
      for (const { dataset } of networks.get(deployment.chainId)?.datasets.values() ?? []) {
        this.#indexes.set(dataset, new UpdateIndex(dataset, settings, context));
      }
    }
  }

  of(dataset: Dataset): UpdateIndex {
    const index = this.#indexes.get(dataset);
    if (index === undefined) throw new Error(`The dataset ${dataset.address} is not served.`);
    return index;
  }
}
