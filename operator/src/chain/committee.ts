import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { type Committee, committeeHash } from "@dataset-oracle/protocol/committee";
import type { Address, Hex } from "viem";
import { getContractEvents } from "viem/actions";
import { type ChainClient, unwrapRpcError } from "./client.js";
import { readView } from "./dataset.js";
import { RpcError } from "./rpc-error.js";

/** A committee that a dataset has. */
export interface StoredCommittee extends Committee {
  /** The hash of it that the dataset stores. */
  readonly hash: Hex;
}

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

  /** @throws RpcError */
  static async load(client: ChainClient, dataset: Address): Promise<CommitteeWatch> {
    return new CommitteeWatch(client, dataset, await readCommittee(client, dataset));
  }

  get current(): StoredCommittee {
    return this.#current;
  }

  /**
   * Returns true if the chain has another committee than `seen` by now; then `current` is that one.
   *
   * @throws RpcError
   */
  async hasReplaced(seen: StoredCommittee): Promise<boolean> {
    if (this.#current !== seen) return true;
    if ((await readView(this.client, this.dataset, "committeeHash")) === seen.hash) return false;
    this.#current = await readCommittee(this.client, this.dataset);
    return true;
  }
}

/** Reads the present committee from the one block that holds its event, and checks it against the stored hash. */
async function readCommittee(client: ChainClient, dataset: Address): Promise<StoredCommittee> {
  const [hash, block] = await Promise.all([
    readView(client, dataset, "committeeHash"),
    readView(client, dataset, "committeeBlock"),
  ]);
  const events = getContractEvents(client, {
    address: dataset,
    abi: datasetAbi,
    eventName: "CommitteeChanged",
    fromBlock: block,
    toBlock: block,
    strict: true,
  });
  const found = (await unwrapRpcError(client, "eth_getLogs", events)).find(({ args }) => committeeHash(args) === hash);
  if (found !== undefined) return { ...found.args, hash };
  const reason = `block ${block} has no event of the committee of ${dataset}`;
  throw new RpcError("failed", client.chain.id, "eth_getLogs", reason);
}
