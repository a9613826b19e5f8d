import type { Address, BlockTag, Client, Hex } from "viem";
import { simulateContract } from "viem/actions";
import { queryLensAbi } from "../abi/query-lens.js";
import { queryLensCode } from "./query-lens-code.js";
import { type QueryResult, readQueryResult } from "./query-result.js";

/** The keys of a dataset to read off chain. */
export interface SimulateQueriesParameters {
  /** The dataset's address. */
  readonly dataset: Address;
  /** All of them go into one call: split a list that is longer than the RPC takes. */
  readonly keys: readonly Hex[];
  /** The state that is read: `latest` by default. */
  readonly blockTag?: BlockTag;
}

/** An unowned address, which has the code and the balance of a lens within one call only. */
const LENS: Address = "0x00000000000000000000000000000000000c0de1";
/** More wei than any queries cost. */
const LENS_BALANCE = 2n ** 128n;

/**
 * Simulates many queries in one call, all in the same state.
 *
 * @param client Any viem client of the dataset's network. Its RPC must support state overrides of code.
 * @returns The results in the order of the keys.
 * @throws viem's `ContractFunctionExecutionError` when one query fails, or when the RPC fails, or refuses or ignores
 * the override.
 */
export async function simulateQueries(
  client: Client,
  { dataset, keys, ...state }: SimulateQueriesParameters,
): Promise<readonly QueryResult[]> {
  const { result } = await simulateContract(client, {
    address: LENS,
    abi: queryLensAbi,
    functionName: "queryMany",
    args: [dataset, keys],
    ...state,
    stateOverride: [{ address: LENS, code: queryLensCode, balance: LENS_BALANCE }],
  });
  return result.map(({ output, updatedAt, status }) => readQueryResult(output, updatedAt, status));
}
