import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { type Committee, committeeHash } from "@dataset-oracle/protocol/committee-hash";
import type { Address, Hex } from "viem";
import { getContractEvents } from "viem/actions";
import type { ChainClient } from "./client.js";
import { readBlockNumber } from "./read-blocks.js";
import { readView } from "./read-view.js";
import { RpcError, unwrapRpcError } from "./rpc-error.js";

/** A committee that a dataset has. */
export interface StoredCommittee extends Committee {
  /** The hash of it that the dataset stores. */
  readonly hash: Hex;
}

/**
 * Reads the present committee from its event, which is recognized by the stored hash. The event is looked for in the
 * block that the dataset names, and otherwise in the whole chain: on chains such as Arbitrum, contracts see the block
 * number of another chain. That takes one more request, for the logs of all blocks, which the RPC endpoint must accept.
 */
export async function readCommittee(client: ChainClient, dataset: Address): Promise<StoredCommittee> {
  const [hash, block, head] = await Promise.all([
    readView(client, dataset, "committeeHash"),
    readView(client, dataset, "committeeBlock"),
    readBlockNumber(client),
  ]);
  const find = async (fromBlock: bigint | "earliest", toBlock: bigint | "latest") => {
    const contract = { address: dataset, abi: datasetAbi, eventName: "CommitteeChanged" } as const;
    const events = getContractEvents(client, { ...contract, fromBlock, toBlock, strict: true });
    return (await unwrapRpcError(client, "eth_getLogs", events)).find(({ args }) => committeeHash(args) === hash);
  };
  // Many nodes refuse to search a block beyond their head.
  const found = (block <= head ? await find(block, block) : undefined) ?? (await find("earliest", "latest"));
  if (found !== undefined) return { ...found.args, hash };
  const reason =
    `no CommitteeChanged event of the current committee of ${dataset} was found, in block ${block} or any other; ` +
    "use an RPC that keeps old logs";
  throw new RpcError("failed", client.chain.id, "eth_getLogs", reason);
}
