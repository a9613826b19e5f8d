import { decodeUpdateCall } from "@dataset-oracle/protocol/decode-update-call";
import { type Address, getAddress, type Hex } from "viem";
import type { Chain } from "../support/chain.js";

/** A mined transaction to a dataset. */
export interface MinedTransaction {
  readonly dataset: Address;
  /** In seconds since 1970, like `minedAt`. */
  readonly round: number;
  readonly sender: Address;
  readonly minedAt: number;
  /** The age in seconds of the oldest value that it replaced; null if none of those was due. */
  readonly age: number | null;
}

/** The measurements of one period. */
export interface Measurement {
  /** Transactions that stored what was due. */
  readonly needed: number;
  /** Transactions that were paid for without need: a round that was stored already, or one too soon after another. */
  readonly needless: number;
  /** The greatest age of any feed, in seconds. */
  readonly greatestAge: number;
  readonly sentBy: ReadonlyMap<Address, number>;
}

/** Follows what is mined for the feeds of some datasets. */
export class MinedUpdates {
  readonly transactions: MinedTransaction[] = [];
  #nextBlock = 0n;
  /** The stored round of each key, by dataset and key hash. */
  readonly #stored = new Map<string, number>();

  /**
   * @param keys The number of keys of each dataset.
   * @param minGap The least time between two rounds of a key, in seconds. One that comes sooner was not due.
   */
  constructor(
    private readonly chain: Chain,
    private readonly datasets: readonly Address[],
    private readonly keys: number,
    private readonly minGap: number,
  ) {}

  /** True once each key is stored. */
  get isComplete(): boolean {
    return this.#stored.size === this.datasets.length * this.keys;
  }

  /** The round of the feed that was updated longest ago, in seconds since 1970. */
  get oldestRound(): number {
    return Math.min(...this.#stored.values());
  }

  /** Reads the blocks since the last time. */
  async read(): Promise<void> {
    const { client } = this.chain;
    const newest = await client.getBlockNumber({ cacheTime: 0 });
    for (; this.#nextBlock <= newest; this.#nextBlock++) {
      const blockNumber = this.#nextBlock;
      const block = await client.getBlock({ blockNumber, includeTransactions: true });
      if (block.transactions.length === 0) continue;
      const updated = await this.#updated(blockNumber);
      for (const { hash, to, from, input } of block.transactions) {
        const dataset = to === null ? undefined : this.datasets.find((one) => one === getAddress(to));
        const call = dataset && decodeUpdateCall(input);
        if (!dataset || !call) continue;
        const ages = updated.filter((one) => one.hash === hash).flatMap((one) => this.#store(dataset, one));
        const minedAt = Number(block.timestamp);
        const age = ages.length === 0 ? null : minedAt - Math.min(...ages);
        this.transactions.push({ dataset, round: Number(call.round), sender: getAddress(from), minedAt, age });
      }
    }
  }

  /** Measures what was mined from a number of transactions on, and how old the feeds are now. */
  async measure(from: number): Promise<Measurement> {
    await this.read();
    const mined = this.transactions.slice(from);
    const { timestamp } = await this.chain.client.getBlock();
    const now = Number(timestamp);
    const ages = mined.flatMap(({ age }) => age ?? []);
    const sentBy = new Map<Address, number>();
    for (const { sender } of mined) sentBy.set(sender, (sentBy.get(sender) ?? 0) + 1);
    return {
      needed: ages.length,
      needless: mined.length - ages.length,
      greatestAge: Math.max(0, ...ages, ...[...this.#stored.values()].map((round) => now - round)),
      sentBy,
    };
  }

  /** Returns the round that was replaced, if there was one and it was due. */
  #store(dataset: Address, { keyHash, round }: { readonly keyHash: Hex; readonly round: number }): readonly number[] {
    const id = `${dataset} ${keyHash}`;
    const before = this.#stored.get(id);
    this.#stored.set(id, round);
    return before !== undefined && round - before >= this.minGap ? [before] : [];
  }

  async #updated(blockNumber: bigint) {
    const blocks = { fromBlock: blockNumber, toBlock: blockNumber };
    return (await this.chain.updates([...this.datasets], blocks)).map(
      ({ keyHash = "0x" as Hex, timestamp = 0n, transactionHash }) => {
        return { keyHash, round: Number(timestamp), hash: transactionHash };
      },
    );
  }
}
