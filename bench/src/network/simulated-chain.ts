import type { Address, Hex } from "viem";
import type { EventQueue } from "./event-queue.js";
import type { Model } from "./model.js";
import type { EvenChance, SeededRandom } from "./random.js";

export interface SimulatedBlock {
  /** When it was made, in milliseconds. */
  readonly at: number;
  /** The stored round of every key after it. */
  readonly storedRounds: ReadonlyMap<Hex, bigint>;
}

export interface SimulatedTransaction {
  /** Without keys, it is a cancellation. */
  keys: readonly Hex[];
  round: bigint;
  /** When it reaches the block's maker, in milliseconds. */
  arrivesAt: number;
  /** The number of its block. */
  minedIn: number | null;
}

interface SimulatedChainOptions {
  readonly events: EventQueue;
  readonly model: Model;
  readonly random: SeededRandom;
  /** Draws whether a transaction is never mined. */
  readonly neverMined: EvenChance;
  readonly blockMs: number;
  readonly startMs: number;
  /** The first stored round of each key. */
  readonly storedRounds: ReadonlyMap<Hex, bigint>;
}

/** A chain with blocks at even intervals, and the transactions that are on their way to it. */
export class SimulatedChain {
  /** By their number. */
  readonly blocks: [SimulatedBlock, ...SimulatedBlock[]];
  /** For each key, when a newer round than the first was stored, in milliseconds; null until then. */
  readonly storedAt = new Map<Hex, number | null>();
  /** For each key, how many transactions with it were mined. */
  readonly mined = new Map<Hex, number>();
  readonly #queues = new Map<Address, SimulatedTransaction[]>();

  constructor(private readonly options: SimulatedChainOptions) {
    const { random, blockMs, startMs, storedRounds } = options;
    this.blocks = [{ at: Number.NEGATIVE_INFINITY, storedRounds }];
    for (const key of storedRounds.keys()) {
      this.storedAt.set(key, null);
      this.mined.set(key, 0);
    }
    this.#planBlock(startMs + Math.ceil(random.between(0, blockMs)));
  }

  /** A sender's transactions that are not mined, in the order of their nonces. */
  queueOf(sender: Address): SimulatedTransaction[] {
    let queue = this.#queues.get(sender);
    if (queue === undefined) {
      queue = [];
      this.#queues.set(sender, queue);
    }
    return queue;
  }

  /** Puts a transaction on its way, with the sender's next nonce. */
  submit(sender: Address, keys: readonly Hex[], round: bigint): SimulatedTransaction {
    const transaction = { ...this.#onItsWay(keys, round), minedIn: null };
    this.queueOf(sender).push(transaction);
    return transaction;
  }

  /** Replaces a transaction by another of the same nonce. */
  replace(transaction: SimulatedTransaction, keys: readonly Hex[], round: bigint): void {
    Object.assign(transaction, this.#onItsWay(keys, round));
  }

  #onItsWay(keys: readonly Hex[], round: bigint) {
    const { events, model, random, neverMined } = this.options;
    const isNeverMined = neverMined.draw();
    const arrivesAt = events.now + Math.ceil(random.between(...model.submissionMs));
    return { keys, round, arrivesAt: isNeverMined ? Number.POSITIVE_INFINITY : arrivesAt };
  }

  #planBlock(at: number) {
    this.options.events.plan(at, () => {
      this.#makeBlock(at);
      this.#planBlock(at + this.options.blockMs);
    });
  }

  #makeBlock(at: number) {
    let storedRounds = (this.blocks.at(-1) ?? this.blocks[0]).storedRounds;
    for (const queue of this.#queues.values()) {
      for (let [transaction] = queue; transaction !== undefined && transaction.arrivesAt <= at; [transaction] = queue) {
        queue.shift();
        const { keys, round } = transaction;
        transaction.minedIn = this.blocks.length;
        const newer = keys.filter((key) => round > (storedRounds.get(key) ?? 0n));
        if (newer.length > 0) storedRounds = new Map([...storedRounds, ...newer.map((key) => [key, round] as const)]);
        for (const key of newer) this.storedAt.set(key, this.storedAt.get(key) ?? at);
        for (const key of keys) this.mined.set(key, (this.mined.get(key) ?? 0) + 1);
      }
    }
    this.blocks.push({ at, storedRounds });
  }
}
