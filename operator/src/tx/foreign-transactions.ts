import type { Logger } from "pino";
import type { Address } from "viem";
import type { Rpc } from "../chain/rpc.js";
import type { Counts } from "./plan.js";
import { type Pooled, readPool } from "./txpool.js";

/** Transactions of a sender's that are pending, and that this process did not send. */
export class ForeignTransactions {
  readonly #since = new Map<number, number>();
  #askedAt = 0;
  #mined = Number.POSITIVE_INFINITY;

  /** @param hidden How many nonces behind those that the counts show are asked for, where some can be behind a gap. */
  constructor(
    private readonly rpc: Rpc,
    private readonly sender: Address,
    private readonly logger: Logger,
    private readonly pollMs: number,
    private readonly hidden: number,
  ) {}

  get size(): number {
    return this.#since.size;
  }

  /** When each was first seen, in milliseconds since 1970. */
  get since(): ReadonlyMap<number, number> {
    return this.#since;
  }

  /** This process has this nonce now. */
  forget(nonce: number): void {
    this.#since.delete(nonce);
  }

  /**
   * Notes who is there now.
   *
   * @param isOwn Whether this process has sent something with that nonce.
   * @returns What the node tells of them.
   */
  async meet({ mined, pending }: Counts, isOwn: (nonce: number) => boolean, now: number): Promise<readonly Pooled[]> {
    for (const nonce of this.#since.keys()) {
      if (nonce < mined || nonce >= pending || isOwn(nonce)) this.#since.delete(nonce);
    }
    for (let nonce = mined; nonce < pending; nonce++) {
      if (isOwn(nonce) || this.#since.has(nonce)) continue;
      this.#since.set(nonce, now);
      this.logger.warn({ nonce }, "a transaction is pending that this process did not send");
    }
    // At the start, and when a reorganisation has freed nonces, there can be some behind a gap: the counts do not show them.
    const isUnsure = mined < this.#mined;
    this.#mined = mined;
    if (!isUnsure && (this.#since.size === 0 || now - this.#askedAt < this.pollMs)) return [];
    this.#askedAt = now;
    const behind = isUnsure ? Array.from({ length: this.hidden }, (_, i) => pending + i) : [];
    const asked = [...this.#since.keys(), ...behind].filter((nonce) => !isOwn(nonce));
    const pooled = await readPool(this.rpc, this.sender, asked);
    return pooled.filter(({ nonce }) => nonce >= mined && !isOwn(nonce));
  }
}
