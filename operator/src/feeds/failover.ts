import type { Address, Hex } from "viem";
import { rankedFor } from "../rendezvous-hash.js";

/** The replicas of an operator on one network: they share its feeds without a word between them. */
export interface Replicas {
  /** One sender of each. Empty where there is only one replica. */
  readonly senders: readonly Address[];
  /** Which of them is this one; null where there is only one. */
  readonly own: Address | null;
  /** How long each waits for the one before it, in milliseconds. */
  readonly failoverMs: number;
}

/**
 * Whose turn it is to update a feed of one dataset. The leader of a key does it at once. Who has another rank does it when
 * the chain has shown for so many steps that those before it did not.
 */
export class Failover {
  /** What needs an update, and since when; by key. */
  readonly #since = new Map<Hex, { readonly updatedAt: bigint; readonly at: number }>();

  constructor(
    private readonly dataset: Address,
    private readonly replicas: Replicas,
  ) {}

  /** 0 for the leader. */
  rankOf(key: Hex): number {
    const { senders, own } = this.replicas;
    return own === null ? 0 : rankedFor(this.dataset, key, senders).indexOf(own);
  }

  /**
   * @param needy Everything that needs an update now, and when it had its last one, in seconds since 1970.
   * @param now Milliseconds since 1970.
   * @returns What this replica is to update now.
   */
  own<T extends { readonly key: Hex; readonly stored: { readonly updatedAt: bigint } }>(
    needy: readonly T[],
    now: number,
  ): T[] {
    const keys = new Set(needy.map(({ key }) => key));
    for (const key of this.#since.keys()) if (!keys.has(key)) this.#since.delete(key);
    return needy.filter(({ key, stored: { updatedAt } }) => {
      const known = this.#since.get(key);
      const at = known?.updatedAt === updatedAt ? known.at : now;
      this.#since.set(key, { updatedAt, at });
      return now - at >= this.rankOf(key) * this.replicas.failoverMs;
    });
  }
}
