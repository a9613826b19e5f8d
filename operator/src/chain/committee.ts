import type { Address } from "viem";
import { readCommittee, readCommitteeHash, type StoredCommittee } from "./dataset.js";
import type { Rpc } from "./rpc.js";

/** A dataset's committee as last read from the chain. It is read again when an update shows that it may have changed. */
export class CommitteeWatch {
  #current: StoredCommittee;

  private constructor(
    private readonly rpc: Rpc,
    private readonly dataset: Address,
    current: StoredCommittee,
  ) {
    this.#current = current;
  }

  static async load(rpc: Rpc, dataset: Address): Promise<CommitteeWatch> {
    return new CommitteeWatch(rpc, dataset, await readCommittee(rpc, dataset));
  }

  get current(): StoredCommittee {
    return this.#current;
  }

  /** Whether the chain has another committee than `seen` by now; then `current` is that one. */
  async hasReplaced(seen: StoredCommittee): Promise<boolean> {
    if (this.#current !== seen) return true;
    if ((await readCommitteeHash(this.rpc, this.dataset)) === seen.hash) return false;
    this.#current = await readCommittee(this.rpc, this.dataset);
    return true;
  }
}
