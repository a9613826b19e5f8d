import type { Address, Client } from "viem";
import { readContract } from "viem/actions";
import { oracleAbi } from "../abi/oracle.js";

/**
 * The price of one query of a dataset, in wei.
 *
 * @param client Any viem client of the dataset's network.
 * @returns In wei, as the dataset says now: its owner can change it, up to a ceiling fixed at its deployment.
 * @throws viem's `ContractFunctionExecutionError` when there is no dataset at the address, or the RPC fails.
 */
export function readQueryPrice(client: Client, { dataset }: { readonly dataset: Address }): Promise<bigint> {
  return readContract(client, { address: dataset, abi: oracleAbi, functionName: "queryPrice" });
}
