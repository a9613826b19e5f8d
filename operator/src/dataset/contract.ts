import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { DATASET_KINDS, type DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import { KEY_FORMS, type KeyForm } from "@dataset-oracle/protocol/key-form";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import type { Address, ReadContractReturnType } from "viem";
import { getCode, readContract } from "viem/actions";
import type { ChainClient } from "../rpc/client.js";
import { isUndecodable, RpcError, rpcErrorIn, unwrapRpcError } from "../rpc/rpc-error.js";

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

/**
 * Reads the kind and the key form of a dataset.
 *
 * @throws ConfigError when the address is another contract's or nobody's. RpcError.
 */
export async function readKindAndForm(
  dataset: DatasetContract,
): Promise<{ readonly kind: DatasetKind; readonly keyForm: KeyForm }> {
  const where = `network ${dataset.client.chain.id}: dataset ${dataset.address}`;
  const fix = "Correct its address in the deployment file or in datasets, or rpcUrls if they are of another chain.";
  try {
    const [judgement, form] = await Promise.all([readView(dataset, "judgement"), readView(dataset, "keyForm")]);
    const [kind, keyForm] = [DATASET_KINDS[judgement], KEY_FORMS[form]];
    if (kind !== undefined && keyForm !== undefined) return { kind, keyForm };
  } catch (error) {
    if (!(error instanceof RpcError) || error.method !== "eth_call") throw error;
    // If this call fails too, its error is thrown: the fault is with the RPC, not with the address.
    if (!(await hasCode(dataset.client, dataset.address))) throw new ConfigError(`${where} is not a contract. ${fix}`);
    if (error.kind !== "refused" && !isUndecodable(error)) throw error;
  }
  throw new ConfigError(`${where} is another contract: it does not answer as a dataset does. ${fix}`);
}

/** The number of items that are read with one call: nodes limit its size and its gas, which keys of 256 bytes need most of. */
const MAX_ITEMS = 300;
/** The number of calls at a time where each item needs its own. */
const MAX_SINGLE_CALLS = 8;

/**
 * Reads many items with as few calls as possible; each by itself where the node refuses or ignores what such a call needs.
 *
 * @returns What was read, in the order of the items.
 * @throws RpcError
 */
export async function readTogether<T, R>(
  items: readonly T[],
  readAll: (some: readonly T[]) => Promise<readonly R[]>,
  readOne: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const read: R[] = [];
  for (const some of chunksOf(items, MAX_ITEMS)) {
    try {
      read.push(...(await readAll(some)));
    } catch (error) {
      const rpcError = rpcErrorIn(error);
      if (rpcError !== null && rpcError.kind !== "refused") throw rpcError;
      for (const few of chunksOf(some, MAX_SINGLE_CALLS)) read.push(...(await Promise.all(few.map(readOne))));
    }
  }
  return read;
}

/** Cuts a list into chunks of at most `size` items. */
export function chunksOf<T>(all: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
}
