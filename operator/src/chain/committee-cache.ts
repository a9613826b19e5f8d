import type { Logger } from "pino";
import type { Address } from "viem";
import type { ChainClient } from "./client.js";
import { readCommittee, type StoredCommittee } from "./read-committee.js";
import { readView } from "./read-view.js";

/**
 * A dataset's committee as last read from the chain. It is read again when an update shows that it may have changed.
 */
export class CommitteeCache {
  #current: StoredCommittee;

  private constructor(
    private readonly client: ChainClient,
    private readonly dataset: Address,
    private readonly logger: Logger,
    current: StoredCommittee,
  ) {
    this.#current = current;
  }

  /** @throws RpcError */
  static async load(client: ChainClient, dataset: Address, logger: Logger): Promise<CommitteeCache> {
    return new CommitteeCache(client, dataset, logger, await readCommittee(client, dataset));
  }

  get current(): StoredCommittee {
    return this.#current;
  }

  /**
   * Returns true if `seen` is no longer the dataset's committee; then `current` is the new one.
   *
   * @throws RpcError
   */
  async refreshIfReplaced(seen: StoredCommittee): Promise<boolean> {
    if (this.#current !== seen) return true;
    if ((await readView(this.client, this.dataset, "committeeHash")) === seen.hash) return false;
    const read = await readCommittee(this.client, this.dataset);
    if (read.hash !== this.#current.hash) {
      const { members, toleranceBps } = read;
      const fields = {
        network: this.client.chain.id,
        dataset: this.dataset,
        members,
        toleranceBps: Number(toleranceBps),
      };
      this.logger.info(fields, "the committee has changed");
    }
    this.#current = read;
    return true;
  }
}
