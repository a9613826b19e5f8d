import type { Address, BlockTag, Client } from "viem";
import { readContract } from "viem/actions";
import { oracleAbi } from "../abi/oracle.js";

/** The dataset whose price to read, and in which state. */
export interface QueryPriceParameters {
  /** The dataset's address. */
  readonly dataset: Address;
  /** The state that is read: `latest` by default. */
  readonly blockTag?: BlockTag;
}

/**
 * Reads the price of one query of a dataset.
 *
 * @param client Any viem client of the dataset's network.
 * @returns In wei, as the dataset says now: its owner can change it, up to a ceiling fixed at its deployment.
 * @throws viem's `ContractFunctionExecutionError` when there is no dataset at the address, or the RPC fails.
 */
export function readQueryPrice(
  client: Client,
  { dataset, blockTag = "latest" }: QueryPriceParameters,
): Promise<bigint> {
  return readContract(client, { address: dataset, abi: oracleAbi, functionName: "queryPrice", blockTag });
}
