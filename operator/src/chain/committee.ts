import type { Address } from "viem";
import type { ChainClient } from "./client.js";
import { readCommittee, readCommitteeHash, type StoredCommittee } from "./dataset.js";

/**
 * A dataset's committee as last read from the chain. It is read again when an update shows that it may have changed.
 */
export class CommitteeWatch {
  #current: StoredCommittee;

  private constructor(
    private readonly client: ChainClient,
    private readonly dataset: Address,
    current: StoredCommittee,
  ) {
    this.#current = current;
  }

  static async load(client: ChainClient, dataset: Address): Promise<CommitteeWatch> {
    return new CommitteeWatch(client, dataset, await readCommittee(client, dataset));
  }

  get current(): StoredCommittee {
    return this.#current;
  }

  /** Returns true if the chain has another committee than `seen` by now; then `current` is that one. */
  async hasReplaced(seen: StoredCommittee): Promise<boolean> {
    if (this.#current !== seen) return true;
    if ((await readCommitteeHash(this.client, this.dataset)) === seen.hash) return false;
    this.#current = await readCommittee(this.client, this.dataset);
    return true;
  }
}
