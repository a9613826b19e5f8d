import type { Logger } from "pino";
import { type Address, getAddress, type Hex, hexToBigInt, hexToNumber } from "viem";
import type { ChainClient } from "../rpc/client.js";
import type { PooledTransaction } from "../rpc/result-schemas.js";
import { readPooledTransactions } from "../rpc/transactions.js";
import type { Fees } from "./fees.js";
import type { Call } from "./job.js";
import type { TransactionCounts } from "./plan.js";

const DOUBTFUL_MS = 600_000;

/** A pending transaction that the node's pool shows in full. */
export interface PooledUpdate {
  readonly nonce: number;
  readonly hash: Hex;
  readonly call: Call;
  readonly fees: Fees;
}

/** The pending transactions of a sender that this process did not send. */
export class ForeignTransactions {
  readonly #since = new Map<number, number>();
  /** The nonces that the node's pool showed; null where the node does not show its pool. */
  #shown: ReadonlySet<number> | null = null;
  #readAt = 0;
  #mined = Number.POSITIVE_INFINITY;

  /** @param hidden How many nonces beyond the pending count are asked for, because some can be behind a gap. */
  constructor(
    private readonly client: ChainClient,
    private readonly sender: Address,
    private readonly logger: Logger,
    private readonly pollMs: number,
    private readonly hidden: number,
  ) {}

  get size(): number {
    return this.#since.size;
  }

  /**
   * When each was first seen pending, by nonce, in milliseconds since 1970. If the node counts one that its pool does
   * not show, ten minutes are added, because the count may be false.
   */
  get stuckSince(): ReadonlyMap<number, number> {
    const isDoubtful = (nonce: number) => this.#shown !== null && !this.#shown.has(nonce);
    return new Map([...this.#since].map(([nonce, at]) => [nonce, isDoubtful(nonce) ? at + DOUBTFUL_MS : at]));
  }

  /** Called when the queue has taken over this nonce. */
  forget(nonce: number): void {
    this.#since.delete(nonce);
  }

  /**
   * Updates the list.
   *
   * @param isOwn Reports whether this process has sent a transaction with a nonce.
   * @returns Those that the node's pool shows, so that they can be recovered.
   */
  async look(
    { mined, pending }: TransactionCounts,
    isOwn: (nonce: number) => boolean,
    now: number,
  ): Promise<readonly PooledUpdate[]> {
    for (const nonce of this.#since.keys()) {
      if (nonce < mined || nonce >= pending || isOwn(nonce)) this.#since.delete(nonce);
    }
    for (let nonce = mined; nonce < pending; nonce++) {
      if (isOwn(nonce) || this.#since.has(nonce)) continue;
      this.#since.set(nonce, now);
      this.logger.warn({ nonce }, "a pending transaction was not sent by this process");
    }
    // At the start, and after a reorganization has freed nonces, there can be some behind a gap, which the counts omit.
    const canHideSome = mined < this.#mined;
    this.#mined = mined;
    if (!canHideSome && (this.#since.size === 0 || now - this.#readAt < this.pollMs)) return [];
    this.#readAt = now;
    const beyond = canHideSome ? Array.from({ length: this.hidden }, (_, i) => pending + i) : [];
    const nonces = [...this.#since.keys(), ...beyond].filter((nonce) => !isOwn(nonce));
    const pool = await readPooledTransactions(this.client, this.sender, nonces);
    this.#shown = pool && new Set(pool.map(({ nonce }) => hexToNumber(nonce)));
    return (pool ?? []).flatMap(toPooledUpdate).filter(({ nonce }) => nonce >= mined && !isOwn(nonce));
  }
}

function toPooledUpdate({ hash, nonce, to, input, gas, ...prices }: PooledTransaction): PooledUpdate[] {
  const fees = feesOf(prices);
  if (to === null || fees === null) return [];
  return [{ nonce: hexToNumber(nonce), hash, call: { to: getAddress(to), data: input, gas: hexToBigInt(gas) }, fees }];
}

function feesOf(prices: Pick<PooledTransaction, "gasPrice" | "maxFeePerGas" | "maxPriorityFeePerGas">): Fees | null {
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = prices;
  if (maxFeePerGas && maxPriorityFeePerGas) {
    return {
      type: "eip1559",
      maxFeePerGas: hexToBigInt(maxFeePerGas),
      maxPriorityFeePerGas: hexToBigInt(maxPriorityFeePerGas),
    };
  }
  return gasPrice ? { type: "legacy", gasPrice: hexToBigInt(gasPrice) } : null;
}
