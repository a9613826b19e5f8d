import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import type { Address, ReadContractReturnType } from "viem";
import { readContract } from "viem/actions";
import type { ChainClient } from "./client.js";
import { unwrapRpcError } from "./rpc-error.js";

type View = "committeeHash" | "committeeBlock" | "maxRoundAge" | "keyForm" | "judgement" | "queryPrice";

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
