import type { Hex } from "viem";
import { type Rpc, requestQuantity } from "../chain/rpc.js";
import type { RoundCall } from "./job.js";
import { type Mined, readBlockHash, readMined } from "./receipt.js";
import type { Task, Transaction } from "./state.js";

/** An update that is mined, and could be dropped by a reorganisation. */
interface Watched {
  readonly transaction: Transaction;
  readonly task: Task;
  readonly call: RoundCall;
  readonly hash: Hex;
  readonly mined: Mined;
  /** Whether its block was the chain's at some look after it was mined. */
  readonly isChecked: boolean;
}

/** Mined updates, until they are so deep that the chain will not drop them. */
export class ReorgWatch {
  #watched: Watched[] = [];
  #head = 0;

  /** @param depth For how many blocks an update is watched. */
  constructor(
    private readonly rpc: Rpc,
    private readonly depth: number,
  ) {}

  get size(): number {
    return this.#watched.length;
  }

  add(transaction: Transaction, task: Task, call: RoundCall, hash: Hex, mined: Mined): void {
    this.#watched.push({ transaction, task, call, hash, mined, isChecked: false });
  }

  /** @returns Those that the chain has dropped. They are watched no more. */
  async look(): Promise<readonly Transaction[]> {
    if (this.#watched.length === 0) return [];
    const head = Number(await requestQuantity(this.rpc, "eth_blockNumber", []));
    if (head === this.#head) return [];
    // A block above the head is one that this node has not seen yet.
    const shown = new Set(this.#watched.filter(({ mined }) => mined.blockNumber <= head));
    if (!(await this.#areThere([...shown]))) return this.#sift();
    this.#head = head;
    this.#watched = this.#watched
      .map((one) => (shown.has(one) ? { ...one, isChecked: true } : one))
      .filter(({ mined, isChecked }) => !isChecked || head - mined.blockNumber < this.depth);
    return [];
  }

  /**
   * Where a block is still the chain's, so is every block below it that was once seen together with it. Those that are new
   * since the last look were each seen by themselves: the chain can have changed between one and the next.
   */
  async #areThere(shown: readonly Watched[]): Promise<boolean> {
    const highest = shown
      .filter(({ isChecked }) => isChecked)
      .reduce<Watched | null>((a, b) => (a === null || b.mined.blockNumber > a.mined.blockNumber ? b : a), null);
    const looked = [...shown.filter(({ isChecked }) => !isChecked), ...(highest === null ? [] : [highest])];
    const blocks = new Map(looked.map(({ mined }) => [mined.blockHash, mined.blockNumber]));
    const found = await Promise.all(
      [...blocks].map(async ([hash, number]) => (await readBlockHash(this.rpc, number)) === hash),
    );
    return found.every(Boolean);
  }

  async #sift(): Promise<readonly Transaction[]> {
    const looked = await Promise.all(this.#watched.map(async (one) => ({ one, mined: await this.#standing(one) })));
    this.#watched = looked.flatMap(({ one, mined }) => (mined === null ? [] : [{ ...one, mined, isChecked: false }]));
    return looked.flatMap(({ one, mined }) => (mined === null ? [one.transaction] : []));
  }

  /** Null when it is in no block, or it is and has stored nothing: what it came too late for is gone as well. */
  async #standing({ task, call, hash }: Watched): Promise<Mined | null> {
    const mined = await readMined(this.rpc, hash);
    if (mined === null || !mined.isReverted) return mined;
    return (await task.job.isStored(call.round)) ? mined : null;
  }
}
