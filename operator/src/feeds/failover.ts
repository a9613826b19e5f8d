import type { Address, Hex } from "viem";
import type { Nodes } from "../peers/nodes.js";
import { rankedFor } from "../tx/senders.js";

/**
 * Decides which feeds of one dataset this node updates. Rank 0 updates a key at once; rank n only after the chain has
 * shown for n times `stageMs` that no node of a better rank did.
 */
export class Failover {
  /** The keys that need an update, and since when. */
  readonly #since = new Map<Hex, { readonly updatedAt: bigint; readonly at: number }>();

  constructor(
    private readonly dataset: Address,
    private readonly nodes: Nodes,
    private readonly stageMs: number,
  ) {}

  /** Returns this node's rank for a key; 0 is the best. A volunteer comes after all nodes. */
  rankOf(key: Hex): number {
    const { all, own } = this.nodes;
    if (own === null) return all.length;
    const submitters = all.map(({ submitter }) => submitter);
    return rankedFor(this.dataset, key, submitters).indexOf(own.submitter);
  }

  /**
   * @param due The feeds that need an update, by any node. `updatedAt` is in seconds since 1970.
   * @param now Milliseconds since 1970.
   * @returns The feeds that this node has to update now.
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
      return now - at >= this.rankOf(key) * this.stageMs;
    });
  }
}
