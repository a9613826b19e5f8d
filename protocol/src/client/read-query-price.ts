import type { Address, BlockTag, Client } from "viem";
import { readContract } from "viem/actions";
import { oracleAbi } from "../abi/oracle.js";

/** The dataset and the block to read. */
export interface QueryPriceParameters {
  /** The dataset's address. */
  readonly dataset: Address;
  /** The block whose state is read: `latest` by default. */
  readonly blockTag?: BlockTag;
}

/**
 * Reads the price of one query of a dataset.
 *
 * @param client Any viem client of the dataset's network.
 * @returns The current price in wei. The owner can change it, up to a ceiling that is fixed at deployment.
 * @throws viem's `ContractFunctionExecutionError` if there is no dataset at the address, or the RPC fails.
 */
export function readQueryPrice(client: Client, { dataset, ...state }: QueryPriceParameters): Promise<bigint> {
  return readContract(client, { address: dataset, abi: oracleAbi, functionName: "queryPrice", ...state });
}
