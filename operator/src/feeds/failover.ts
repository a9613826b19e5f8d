import type { Address, Hex } from "viem";
import { rankedFor } from "../tx/senders.js";

/** The replicas of an operator on one network. They share its feeds without talking to each other. */
export interface Replicas {
  /** One sender of each replica; empty where there is only one. */
  readonly senders: readonly Address[];
  /** This replica's sender; null where there is only one replica. */
  readonly own: Address | null;
  /** How long each replica waits for the one ranked before it, in milliseconds. */
  readonly failoverMs: number;
}

/**
 * Decides which feeds of one dataset this replica updates. Rank 0 updates a key at once; rank n only after the chain has
 * shown for n times `failoverMs` that no replica of a better rank did.
 */
export class Failover {
  /** The keys that need an update, and since when. */
  readonly #since = new Map<Hex, { readonly updatedAt: bigint; readonly at: number }>();

  constructor(
    private readonly dataset: Address,
    private readonly replicas: Replicas,
  ) {}

  /** Returns this replica's rank for a key; 0 is the best. */
  rankOf(key: Hex): number {
    const { senders, own } = this.replicas;
    return own === null ? 0 : rankedFor(this.dataset, key, senders).indexOf(own);
  }

  /**
   * @param due The feeds that need an update, by any replica. `updatedAt` is in seconds since 1970.
   * @param now Milliseconds since 1970.
   * @returns The feeds that this replica has to update now.
   */
  own<T extends { readonly key: Hex; readonly stored: { readonly updatedAt: bigint } }>(
    due: readonly T[],
    now: number,
  ): T[] {
    const keys = new Set(due.map(({ key }) => key));
    for (const key of this.#since.keys()) if (!keys.has(key)) this.#since.delete(key);
    return due.filter(({ key, stored: { updatedAt } }) => {
      const known = this.#since.get(key);
      const at = known?.updatedAt === updatedAt ? known.at : now;
      this.#since.set(key, { updatedAt, at });
      return now - at >= this.rankOf(key) * this.replicas.failoverMs;
    });
  }
}
