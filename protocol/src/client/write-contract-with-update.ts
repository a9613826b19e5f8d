import type {
  Abi,
  Account,
  Address,
  Client,
  ContractFunctionArgs,
  ContractFunctionName,
  EstimateContractGasParameters,
  Hash,
  Hex,
  WriteContractParameters,
} from "viem";
import { estimateContractGas, getChainId, writeContract } from "viem/actions";
import { type FetchUpdateParameters, fetchUpdate } from "./fetch-update.js";
import { NoAccountError } from "./send-and-wait.js";

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
 * transaction: fetches the update, simulates the call in the pending block, and sends it.
 *
 * @param walletClient Any viem wallet client, for a browser wallet or with a local account, on the dataset's network.
 * @returns The hash of the transaction, which is not mined yet.
 * @throws `NoAccountError`; `DataRequestError` when no operator has an update; viem's `ContractFunctionExecutionError`
 * with the contract's own error when the simulated call reverts: nothing was sent. Viem's errors if the user or the RPC
 * rejects the transaction.
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
  const { update, transaction } = await fetchUpdate({ ...wanted, networkId: await getChainId(walletClient) });
  const request = { ...call, args: args(update), account };
  // The round is newer than the latest block, where the dataset would reject it as being in the future.
  const simulated = { ...request, blockTag: "pending" } as unknown as EstimateContractGasParameters;
  // Another sender's pending update makes this one look cheap, but may be mined after it.
  const gas = (await estimateContractGas(walletClient, simulated)) + transaction.gas;
  return writeContract(walletClient, { ...request, gas, chain: null } as unknown as WriteContractParameters);
}
