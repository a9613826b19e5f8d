import type { Logger } from "pino";
import { type Address, getAddress, type Hex, type Transaction } from "viem";
import type { ChainClient } from "../rpc/client.js";
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
    this.#shown = pool && new Set(pool.map(({ nonce }) => nonce));
    return (pool ?? []).flatMap(toPooledUpdate).filter(({ nonce }) => nonce >= mined && !isOwn(nonce));
  }
}

/** Returns nothing for a transaction that creates a contract, or whose fees the node does not show. */
function toPooledUpdate({ nonce, hash, to, input, gas, ...prices }: Transaction): PooledUpdate[] {
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = prices;
  const call = to && { to: getAddress(to), data: input, gas };
  if (!call) return [];
  if (maxFeePerGas !== undefined && maxPriorityFeePerGas !== undefined) {
    return [{ nonce, hash, call, fees: { type: "eip1559", maxFeePerGas, maxPriorityFeePerGas } }];
  }
  return gasPrice === undefined ? [] : [{ nonce, hash, call, fees: { type: "legacy", gasPrice } }];
}
