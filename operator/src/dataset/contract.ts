import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import type { Address, ReadContractReturnType } from "viem";
import { getCode, readContract } from "viem/actions";
import type { ChainClient } from "../rpc/client.js";
import { isUndecodable, RpcError, unwrapRpcError } from "../rpc/rpc-error.js";

/** A dataset's contract on its chain. */
export interface DatasetContract {
  readonly client: ChainClient;
  readonly address: Address;
}

type View = "committeeHash" | "committeeBlock" | "maxRoundAge" | "keyForm" | "judgement" | "queryPrice";

/**
 * Reads a view of a dataset, in the contract's units.
 *
 * @throws RpcError
 */
export function readView<const N extends View>(
  { client, address }: DatasetContract,
  functionName: N,
): Promise<ReadContractReturnType<typeof datasetAbi, N>> {
  return unwrapRpcError(client, "eth_call", readContract(client, { address, abi: datasetAbi, functionName }));
}

/**
 * Reports whether an address is a contract's.
 *
 * @throws RpcError
 */
export async function hasCode(client: ChainClient, address: Address): Promise<boolean> {
  return (await unwrapRpcError(client, "eth_getCode", getCode(client, { address }))) !== undefined;
}

/** Where the configuration names a dataset, and what to do if its address is wrong: each a part of an error message. */
interface ConfiguredDataset {
  readonly address: Address;
  readonly where: string;
  readonly fix: string;
}

/**
 * Finds out whether a dataset could not be read because its address is another contract's or nobody's.
 *
 * @throws ConfigError that names the address if so, else the error.
 */
export async function throwIfNotDataset(
  client: ChainClient,
  configured: ConfiguredDataset,
  error: unknown,
): Promise<never> {
  if (!(error instanceof RpcError) || error.method !== "eth_call") throw error;
  const { address, where, fix } = configured;
  // If this call fails too, its error is thrown: the fault is with the RPC, not with the address.
  if (!(await hasCode(client, address))) throw new ConfigError(`${where}, is not a contract. ${fix}`);
  throw error.kind === "refused" || isUndecodable(error) ? anotherContract(configured) : error;
}

export function anotherContract({ where, fix }: ConfiguredDataset): ConfigError {
  return new ConfigError(`${where}, is another contract: it does not answer as a dataset does. ${fix}`);
}
