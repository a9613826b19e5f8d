import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { type Committee, committeeHash } from "@dataset-oracle/protocol/committee-hash";
import type { Logger } from "pino";
import type { Hex } from "viem";
import { getContractEvents } from "viem/actions";
import { readBlockNumber } from "../rpc/blocks.js";
import { RpcError, unwrapRpcError } from "../rpc/rpc-error.js";
import { type DatasetContract, readView } from "./contract.js";

/** A committee that a dataset has. */
export interface StoredCommittee extends Committee {
  /** The hash of it that the dataset stores. */
  readonly hash: Hex;
}

/**
 * A dataset's committee as last read from the chain. It is read again when an update shows that it may have changed.
 */
export class CommitteeCache {
  private constructor(
    private readonly dataset: DatasetContract,
    private readonly logger: Logger,
    private stored: StoredCommittee,
  ) {}

  /** @throws RpcError */
  static async load(dataset: DatasetContract, logger: Logger): Promise<CommitteeCache> {
    return new CommitteeCache(dataset, logger, await readCommittee(dataset));
  }

  get current(): StoredCommittee {
    return this.stored;
  }

  /**
   * Returns true if `seen` is no longer the dataset's committee; then `current` is the new one.
   *
   * @throws RpcError
   */
  async refreshIfReplaced(seen: StoredCommittee): Promise<boolean> {
    if (this.stored !== seen) return true;
    if ((await readView(this.dataset, "committeeHash")) === seen.hash) return false;
    const read = await readCommittee(this.dataset);
    if (read.hash !== this.stored.hash) {
      const { client, address } = this.dataset;
      const { members, toleranceBps } = read;
      const fields = { network: client.chain.id, dataset: address, members, toleranceBps: Number(toleranceBps) };
      this.logger.info(fields, "the committee has changed");
    }
    this.stored = read;
    return true;
  }
}

/**
 * Reads the present committee from its event, which is recognized by the stored hash. The event is looked for in the
 * block that the dataset names, and otherwise in the whole chain: on chains such as Arbitrum, contracts see the block
 * number of another chain. That takes one more request, for the logs of all blocks, which the RPC endpoint must accept.
 */
async function readCommittee(dataset: DatasetContract): Promise<StoredCommittee> {
  const { client, address } = dataset;
  const [hash, block, head] = await Promise.all([
    readView(dataset, "committeeHash"),
    readView(dataset, "committeeBlock"),
    readBlockNumber(client),
  ]);
  const find = async (fromBlock: bigint | "earliest", toBlock: bigint | "latest") => {
    const filter = { address, abi: datasetAbi, eventName: "CommitteeChanged" } as const;
    const events = getContractEvents(client, { ...filter, fromBlock, toBlock, strict: true });
    return (await unwrapRpcError(client, "eth_getLogs", events)).find(({ args }) => committeeHash(args) === hash);
  };
  // Many nodes refuse to search a block beyond their head.
  const found = (block <= head ? await find(block, block) : undefined) ?? (await find("earliest", "latest"));
  if (found !== undefined) return { ...found.args, hash };
  const reason =
    `no CommitteeChanged event of the current committee of ${address} was found, in block ${block} or any other; ` +
    "use an RPC that keeps old logs";
  throw new RpcError("failed", client.chain.id, "eth_getLogs", reason);
}
