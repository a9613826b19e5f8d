import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { DATASET_KINDS, type DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import { COMMITTEE_DIRECTORY, WEB_ORACLE_REGISTRY } from "@dataset-oracle/protocol/fixed-addresses";
import { KEY_FORMS, type KeyForm } from "@dataset-oracle/protocol/key-form";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import type { DeployedContracts } from "@dataset-oracle/service/config/deployment";
import type { Clock } from "@dataset-oracle/service/process/context";
import { type Address, encodeFunctionData, type ReadContractReturnType } from "viem";
import { readContract } from "viem/actions";
import { readHead } from "../rpc/blocks.js";
import type { ChainClient } from "../rpc/client.js";
import { MEANINGS } from "../rpc/node-errors.js";
import { RpcError, rpcErrorIn, unwrapRpcError } from "../rpc/rpc-error.js";

/** A dataset's contract on its chain. */
export interface DatasetContract {
  readonly client: ChainClient;
  readonly address: Address;
}

type View = "committeeHash" | "committeeBlock" | "maxRoundAge" | "queryPrice";

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

/** A dataset is not there yet, as far as it can be seen. The reason is in this operator's own words, so anyone may read it. */
export class DatasetUnreadable extends RpcError {}

/** A dataset, or the EVM of its node, refuses an update. */
export class UpdateReverted extends Error {
  /**
   * @param error The contract's error with its arguments; null when the node gave none.
   * @param fix A sentence.
   * @param cause The node's answer.
   */
  constructor(
    readonly error: string | null,
    readonly fix = "Try again in a few seconds.",
    override readonly cause: RpcError | null = null,
  ) {
    super(`The dataset refuses the update${error === null ? "" : `: ${error}`}. ${fix}`);
    this.name = "UpdateReverted";
  }
}

/**
 * Reports whether an address is a contract's, by any endpoint.
 *
 * @throws RpcError
 */
export async function hasCode(client: ChainClient, address: Address): Promise<boolean> {
  return (await readCodes(client, address)).some(Boolean);
}

/**
 * Finds the contracts that a deployment file would name, if they are at the addresses that are the same on every network.
 *
 * @throws RpcError
 */
export async function findContracts(client: ChainClient): Promise<DeployedContracts> {
  const [hasDirectory, hasRegistry] = await Promise.all([
    hasCode(client, COMMITTEE_DIRECTORY),
    hasCode(client, WEB_ORACLE_REGISTRY),
  ]);
  return {
    ...(hasDirectory && { committeeDirectory: COMMITTEE_DIRECTORY }),
    ...(hasRegistry && { webOracleRegistry: WEB_ORACLE_REGISTRY }),
  };
}

/** Reads for each endpoint that answers whether it has code at an address. */
async function readCodes(client: ChainClient, address: Address): Promise<readonly boolean[]> {
  const codes = await client.requestEach("eth_getCode", [address, "latest"]);
  return codes.map((code) => typeof code === "string" && code.length > 2);
}

/**
 * Reads a view that returns an index into a list, at each endpoint.
 *
 * @returns The items that they name.
 * @throws RpcError when none answers.
 */
async function readNamed<T>(
  { client, address }: DatasetContract,
  functionName: "judgement" | "keyForm",
  list: readonly T[],
): Promise<ReadonlySet<T>> {
  const data = encodeFunctionData({ abi: datasetAbi, functionName });
  const answers = await client.requestEach("eth_call", [{ to: address, data }, "latest"]).catch((error: unknown) => {
    // All those that answer say that it reverts.
    if (error instanceof RpcError && MEANINGS[error.meaning].isFinal) return [];
    throw error;
  });
  return new Set(answers.flatMap((answer) => list[Number(answer)] ?? []));
}

/** A node that syncs has no code yet, and an old head: what it lacks counts only if its newest block is at most this old. */
const RECENT_HEAD_SECONDS = 60;

/**
 * Reads the kind and the key form of a dataset.
 *
 * @throws ConfigError when every endpoint that answers says, at a recent head, that the address is another contract's or
 * nobody's. RpcError.
 */
export async function readKindAndForm(
  dataset: DatasetContract,
  clock: Clock,
): Promise<{ readonly kind: DatasetKind; readonly keyForm: KeyForm }> {
  const { client, address } = dataset;
  const [kinds, forms] = await Promise.all([
    readNamed(dataset, "judgement", DATASET_KINDS),
    readNamed(dataset, "keyForm", KEY_FORMS),
  ]);
  const [[kind], [keyForm]] = [kinds, forms];
  const unreadable = (what: string) =>
    new DatasetUnreadable("failed", client.chain.id, "eth_call", `dataset ${address} is ${what}`);
  if (kinds.size > 1 || forms.size > 1) throw unreadable("another contract by one RPC endpoint than by another");
  if (kind !== undefined && keyForm !== undefined) return { kind, keyForm };
  const codes = await readCodes(client, address);
  const fault = codes.includes(true) ? "another contract: it does not answer as a dataset does" : "not a contract";
  if (codes.includes(true) && codes.includes(false)) throw unreadable(`${fault}, or not yet at all RPC endpoints`);
  const ageSeconds = Math.floor(clock.now() / 1000) - (await readHead(client)).timestamp;
  if (ageSeconds > RECENT_HEAD_SECONDS)
    throw unreadable(`${fault}, at a block that is ${ageSeconds} s old: the node may be syncing`);
  const fix = "Correct its address in the deployment file or in datasets, or rpcUrls if they are of another chain.";
  throw new ConfigError(`network ${client.chain.id}: dataset ${address} is ${fault}. ${fix}`);
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
    const all = await readAll(some).catch((error: unknown) => {
      const rpcError = rpcErrorIn(error);
      if (rpcError !== null && rpcError.kind !== "refused") throw rpcError;
      return [];
    });
    if (all.length === some.length) read.push(...all);
    else for (const few of chunksOf(some, MAX_SINGLE_CALLS)) read.push(...(await Promise.all(few.map(readOne))));
  }
  return read;
}

/** Cuts a list into chunks of at most `size` items. */
export function chunksOf<T>(all: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
}
