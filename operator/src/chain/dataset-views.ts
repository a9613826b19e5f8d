import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { readQueryPrice as readPrice } from "@dataset-oracle/protocol/client/read-query-price";
import type { Address, ReadContractReturnType } from "viem";
import { readContract } from "viem/actions";
import type { ChainClient } from "./client.js";
import { unwrapRpcError } from "./rpc-error.js";

/**
 * Reads the price of one query, in wei.
 *
 * @throws RpcError
 */
export function readQueryPrice(client: ChainClient, dataset: Address): Promise<bigint> {
  return unwrapRpcError(client, "eth_call", readPrice(client, { dataset }));
}

type View = "committeeHash" | "committeeBlock" | "maxRoundAge" | "keyForm" | "judgement";

/**
 * Reads a view of a dataset, in the contract's units.
 *
 * @throws RpcError
 */
export function readView<const N extends View>(
  client: ChainClient,
  dataset: Address,
  functionName: N,
): Promise<ReadContractReturnType<typeof datasetAbi, N>> {
  return unwrapRpcError(client, "eth_call", readContract(client, { address: dataset, abi: datasetAbi, functionName }));
}
