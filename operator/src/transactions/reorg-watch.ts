import type { Hex } from "viem";
import { readBlock, readBlockNumber } from "../rpc/blocks.js";
import type { ChainClient } from "../rpc/client.js";
import { lowerMedian } from "../rpc/lower-median.js";
import { type Mined, readMined } from "../rpc/transactions.js";
import { type Confirmed, endOf, type Transaction } from "./task.js";

/** A mined update that a reorganization could drop. */
interface Watched {
  readonly transaction: Transaction;
  readonly mined: Confirmed;
  /** True once its block was found in the chain after it was mined. */
  isChecked: boolean;
}

/** Watches mined updates until they are so deep that the chain will not drop them. */
export class ReorgWatch {
  #watched: readonly Watched[] = [];
  #head = 0;

  /** @param settings `reorgDepth`: for how many blocks an update is watched. */
  constructor(
    private readonly client: ChainClient,
    private readonly settings: { readonly reorgDepth: number },
  ) {}

  get size(): number {
    return this.#watched.length;
  }

  /** The first nonce after those of all watched updates; 0 where there is none. */
  get end(): number {
    return endOf(this.#watched.map(({ transaction }) => transaction.nonce));
  }

  /** The first nonce of all watched updates, which a reorganization can free; Infinity where there is none. */
  get start(): number {
    return Math.min(...this.#watched.map(({ transaction }) => transaction.nonce));
  }

  add(transaction: Transaction, mined: Confirmed): void {
    this.#watched = [...this.#watched, { transaction, mined, isChecked: false }];
  }

  /**
   * Returns the transactions that the chain has dropped, and stops watching them.
   *
   * @param isFreed True if the nonce of one is shown as free: then it looks even if the chain is not longer.
   */
  async look(isFreed = false): Promise<readonly Transaction[]> {
    if (this.#watched.length === 0) return [];
    const head = await readBlockNumber(this.client);
    if (head === this.#head && !isFreed) return [];
    // The node that answers may not have seen the blocks above its head yet.
    const shown = this.#watched.filter(({ mined }) => mined.blockNumber <= head);
    const areInChain = await this.#areInChain(shown);
    if (areInChain === null) return [];
    if (!areInChain) return this.#takeDropped();
    this.#head = head;
    for (const one of shown) one.isChecked = true;
    const deepFrom = Math.min(head, this.#headOfMost ?? head) - this.settings.reorgDepth;
    this.#watched = this.#watched.filter(({ mined, isChecked }) => !isChecked || mined.blockNumber > deepFrom);
    return [];
  }

  /** The median of the endpoints' heads: what one false head makes forgotten could be dropped unnoticed. */
  get #headOfMost(): number | undefined {
    const ready = this.client.endpoints().filter((endpoint) => endpoint.ready);
    return lowerMedian(ready.map(({ block }) => block));
  }

  /**
   * While a block is part of the chain, so is every block below it that was once seen together with it: of the checked
   * updates only the highest needs a look. Updates added since the last look were never seen together in one chain, so
   * each is checked.
   *
   * @returns Null while a node does not have a block yet, which another has shown: only another block in its place says
   * that the chain was reorganized.
   */
  async #areInChain(shown: readonly Watched[]): Promise<boolean | null> {
    const checked = shown.filter(({ isChecked }) => isChecked);
    const highest = checked.toSorted((a, b) => b.mined.blockNumber - a.mined.blockNumber).slice(0, 1);
    const toCheck = [...shown.filter(({ isChecked }) => !isChecked), ...highest];
    const blocks = new Map(toCheck.map(({ mined }) => [mined.blockHash, mined.blockNumber]));
    const found = await Promise.all([...blocks].map(([hash, number]) => this.#isInChain(hash, number)));
    if (found.includes(false)) return false;
    return found.includes(null) ? null : true;
  }

  /** Reports whether a block has its place in the chain; null where the node has none there yet. */
  async #isInChain(hash: Hex, number: number): Promise<boolean | null> {
    const there = (await readBlock(this.client, number))?.hash ?? null;
    return there === null ? null : there === hash;
  }

  async #takeDropped(): Promise<readonly Transaction[]> {
    const read = await Promise.all(this.#watched.map(async (one) => ({ one, found: await this.#findStored(one) })));
    const gone = new Set(read.flatMap(({ one, found }) => (found === null ? [one.mined.blockHash] : [])));
    // What was in a block that is gone is not mined, whatever a node says that has not seen the new one yet.
    const now = read.map(({ one, found }) => ({ one, found: found && !gone.has(found.blockHash) ? found : null }));
    this.#watched = now.flatMap(({ one, found }) => {
      return found === null ? [] : [{ ...one, mined: { ...one.mined, ...found }, isChecked: false }];
    });
    return now.flatMap(({ one, found }) => (found === null ? [one.transaction] : []));
  }

  /**
   * Returns null if the chain has dropped the update: another block is in the place of its own and none has it, or it
   * reverted and no other update has stored its round.
   */
  async #findStored({ transaction: { task }, mined }: Watched): Promise<Mined | null> {
    const { hash, call, blockHash, blockNumber } = mined;
    const found = await readMined(this.client, hash);
    if (found === null) return (await this.#isInChain(blockHash, blockNumber)) === false ? null : mined;
    if (!found.isReverted) return found;
    return (await task?.work.isStored(call.round)) ? found : null;
  }
}
