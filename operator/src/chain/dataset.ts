import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { readQueryPrice as readPrice } from "@dataset-oracle/protocol/client/read-query-price";
import { type Committee, committeeHash } from "@dataset-oracle/protocol/committee";
import type { Address, Hex } from "viem";
import { getContractEvents, readContract } from "viem/actions";
import { type ChainClient, unwrapRpcError } from "./client.js";
import { RpcError } from "./rpc-error.js";

/** A committee that a dataset has. */
export interface StoredCommittee extends Committee {
  /** The hash of it that the dataset stores. */
  readonly hash: Hex;
}

/**
 * Reads the present committee from the one block that holds its event, and checks it against the stored hash.
 *
 * @throws RpcError
 */
export async function readCommittee(client: ChainClient, dataset: Address): Promise<StoredCommittee> {
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

export function readCommitteeHash(client: ChainClient, dataset: Address): Promise<Hex> {
  return readView(client, dataset, "committeeHash");
}

/** Reads the price of one query, in wei. */
export function readQueryPrice(client: ChainClient, dataset: Address): Promise<bigint> {
  return unwrapRpcError(client, "eth_call", readPrice(client, { dataset }));
}

/** Reads how old a round may be when it is stored, in seconds. */
export function readMaxRoundAge(client: ChainClient, dataset: Address): Promise<bigint> {
  return readView(client, dataset, "maxRoundAge");
}

/** Reads the index of the dataset's key form. */
export function readKeyForm(client: ChainClient, dataset: Address): Promise<number> {
  return readView(client, dataset, "keyForm");
}

type View = "committeeHash" | "committeeBlock" | "maxRoundAge" | "keyForm";

function readView<const N extends View>(client: ChainClient, dataset: Address, functionName: N) {
  const view = readContract(client, { address: dataset, abi: datasetAbi, functionName });
  return unwrapRpcError(client, "eth_call", view);
}
