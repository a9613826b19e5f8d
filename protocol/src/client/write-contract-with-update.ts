import {
  type Abi,
  type Account,
  type Address,
  BaseError,
  type Client,
  type ContractFunctionArgs,
  type ContractFunctionName,
  ContractFunctionRevertedError,
  type EstimateContractGasParameters,
  ExecutionRevertedError,
  type Hash,
  type Hex,
  type WriteContractParameters,
} from "viem";
import { estimateContractGas, getChainId, writeContract } from "viem/actions";
import { DataRequestError } from "./data-request-error.js";
import { type FetchUpdateParameters, fetchUpdate } from "./fetch-update.js";
import { chainOf, NoAccountError, requireChain } from "./send-and-wait.js";

type Writes = "nonpayable" | "payable";

/** A call of the caller's own contract, as viem's `writeContract` takes it, and the update that goes into it. */
export interface WriteContractWithUpdateParameters<
  abi extends Abi | readonly unknown[] = Abi,
  functionName extends ContractFunctionName<abi, Writes> = ContractFunctionName<abi, Writes>,
  args extends ContractFunctionArgs<abi, Writes, functionName> = ContractFunctionArgs<abi, Writes, functionName>,
> {
  /** The contract that refreshes and reads. */
  readonly address: Address;
  readonly abi: abi;
  readonly functionName: functionName;
  /** Returns the arguments of the call, given the packed update: `(update) => [amount, update]`. */
  readonly args: (update: Hex) => args;
  /** The Ether that is sent with the call, in wei: usually what the contract pays for the query. */
  readonly value?: bigint;
  /** The account that sends the transaction. The wallet client's account by default. */
  readonly account?: Account | Address;
  /** The data point, and the operators that are asked for its update. The network is the wallet's. */
  readonly update: Omit<FetchUpdateParameters, "networkId">;
}

/**
 * Calls a contract with a fresh update among its arguments, so that it stores and reads a value of this moment in one
 * transaction: fetches the update, simulates the call in the pending block, and sends it. When the simulated call reverts,
 * the next operator's update is tried, because one of an operator may be forged.
 *
 * @param walletClient Any viem wallet client, for a browser wallet or with a local account, on the dataset's network.
 * @returns The hash of the transaction, which is not mined yet.
 * @throws `NoAccountError`; `WrongChainError` when the wallet was switched to another network meanwhile: nothing was sent;
 * viem's `ContractFunctionExecutionError` with the contract's own error when the simulated call reverts, with the update of
 * every operator that has one: nothing was sent; `DataRequestError` when no operator has an update. Viem's errors if the
 * user or the RPC rejects the transaction.
 */
export async function writeContractWithUpdate<
  const abi extends Abi | readonly unknown[],
  functionName extends ContractFunctionName<abi, Writes>,
  const args extends ContractFunctionArgs<abi, Writes, functionName>,
>(
  walletClient: Client,
  {
    update: wanted,
    args,
    account = walletClient.account,
    ...call
  }: WriteContractWithUpdateParameters<abi, functionName, args>,
): Promise<Hash> {
  if (!account) throw new NoAccountError();
  const chainId = await getChainId(walletClient);
  const prepare = async (url: string) => {
    const { update, transaction } = await fetchUpdate({ ...wanted, url, networkId: chainId });
    // Fetching took seconds, in which the wallet may have been switched.
    await requireChain(walletClient, chainId);
    const request = { ...call, args: args(update), account };
    // The round is newer than the latest block, where the dataset would reject it as being in the future.
    const simulated = { ...request, blockTag: "pending" } as unknown as EstimateContractGasParameters;
    const estimate = await estimateContractGas(walletClient, simulated).finally(() =>
      requireChain(walletClient, chainId),
    );
    // Another sender's pending update makes this one look cheap, but may be mined after it.
    return { ...request, gas: estimate + transaction.gas };
  };
  const request = await prepareInTurn([wanted.url].flat(), prepare);
  return writeContract(walletClient, { ...request, chain: chainOf(chainId) } as unknown as WriteContractParameters);
}

/** Prepares a request with the update of the first operator with which that succeeds. */
async function prepareInTurn<T>(urls: readonly string[], prepare: (url: string) => Promise<T>): Promise<T> {
  const failures: DataRequestError[] = [];
  let revert: unknown = null;
  for (const url of urls) {
    try {
      return await prepare(url);
    } catch (error) {
      if (isRevert(error)) {
        revert = error;
        continue;
      }
      if (!(error instanceof DataRequestError)) throw error;
      error.earlier = failures.slice();
      failures.push(error);
    }
  }
  // The contract may have reasons of its own to revert, which the failure of another operator must not hide.
  throw revert ?? failures.at(-1) ?? new Error("There is no operator to ask. Pass at least one URL as `url`.");
}

const isRevert = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk((cause) => cause instanceof ContractFunctionRevertedError || cause instanceof ExecutionRevertedError) !==
    null;
