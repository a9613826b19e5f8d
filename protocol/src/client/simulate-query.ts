import { type Address, BaseError, type BlockTag, type Client, InsufficientFundsError, zeroAddress } from "viem";
import { simulateContract } from "viem/actions";
import { datasetAbi } from "../abi/dataset.js";
import { parseKey } from "../dataset-key.js";
import { type QueryResult, readQueryResult } from "./query-result.js";
import { readQueryPrice } from "./read-query-price.js";

/** The data point to read. */
export interface SimulateQueryParameters {
  /** The dataset's address. */
  readonly dataset: Address;
  /** The key in ASCII, for example `SPOTPX/ETH-USD`, or in hex after `0x`, as `spotPriceKey` gives it. */
  readonly key: string;
  /**
   * The sender of the call. It must hold the query price but pays nothing. By default the call overrides the balance of
   * its sender; an RPC without state overrides needs an account.
   */
  readonly account?: Address;
  /** The state that is read: `latest` by default. */
  readonly blockTag?: BlockTag;
}

/** The account of a simulated query holds less than the query price. */
export class InsufficientBalanceError extends Error {
  override readonly name = "InsufficientBalanceError";

  /** @param price In wei. */
  constructor(
    readonly account: Address,
    readonly price: bigint,
    options?: ErrorOptions,
  ) {
    super(
      `${account} holds less than the query price of ${price} wei, which even a simulated call needs. Pass an account that holds it, or none: the call then overrides the balance of its sender.`,
      options,
    );
  }
}

/**
 * Simulates a query: returns what it would answer now, without a transaction and without payment. `eth_call` lets no
 * sender send more Ether than it holds: see `account`.
 *
 * @param client Any viem client of the dataset's network.
 * @throws An Error if the key is invalid; `InsufficientBalanceError`; viem's `ContractFunctionExecutionError` if there
 * is no dataset at the address, or the RPC fails.
 */
export async function simulateQuery(
  client: Client,
  { dataset, key: text, account, ...state }: SimulateQueryParameters,
): Promise<QueryResult> {
  const key = parseKey(text);
  if (!key.ok) throw new Error(key.error);
  const price = await readQueryPrice(client, { dataset, ...state });
  const query = { address: dataset, abi: datasetAbi, functionName: "query", args: [key.value], value: price } as const;
  try {
    const { result } = await simulateContract(client, {
      ...query,
      ...state,
      ...(account ? { account } : { account: zeroAddress, stateOverride: [{ address: zeroAddress, balance: price }] }),
    });
    return readQueryResult(...result);
  } catch (error) {
    if (account && error instanceof BaseError && error.walk((cause) => cause instanceof InsufficientFundsError)) {
      throw new InsufficientBalanceError(account, price, { cause: error });
    }
    throw error;
  }
}
