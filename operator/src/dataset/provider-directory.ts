import { committeeDirectoryAbi } from "@dataset-oracle/protocol/abi/committee-directory";
import { BASE_URL_PATTERN, withoutFinalSlashes } from "@dataset-oracle/protocol/base-url";
import type { Address } from "viem";
import { multicall, readContract } from "viem/actions";
import type { ChainClient } from "../rpc/client.js";
import { rpcErrorIn, unwrapRpcError } from "../rpc/rpc-error.js";

/** The number of calls at a time where each provider needs its own. */
const MAX_SINGLE_CALLS = 8;
const BASE_URL = new RegExp(BASE_URL_PATTERN);

/**
 * Reads the URLs at which providers answer, as each has announced its own in the directory.
 *
 * @returns The base URLs, by provider; without those who announced none, have withdrawn it, or announced no valid URL.
 * @throws RpcError
 */
export async function readAnnouncedUrls(
  client: ChainClient,
  directory: Address,
  providers: readonly Address[],
): Promise<ReadonlyMap<Address, string>> {
  const announced = await readAnnouncements(client, directory, providers);
  const urls = announced.flatMap(([url], index) => {
    const provider = providers[index];
    const isValid = provider !== undefined && BASE_URL.test(url) && URL.canParse(url);
    return isValid ? [[provider, withoutFinalSlashes(url)] as const] : [];
  });
  return new Map(urls);
}

type Announcement = readonly [url: string, issuedAt: bigint];

/** Reads all in one call, whose code makes the others; one by one where the node refuses that. */
async function readAnnouncements(
  client: ChainClient,
  address: Address,
  providers: readonly Address[],
): Promise<readonly Announcement[]> {
  if (providers.length === 0) return [];
  const contractOf = (provider: Address) =>
    ({ address, abi: committeeDirectoryAbi, functionName: "announcementOf", args: [provider] }) as const;
  const contracts = providers.map(contractOf);
  try {
    return await multicall(client, { contracts, deployless: true, allowFailure: false });
  } catch (error) {
    const rpcError = rpcErrorIn(error);
    if (rpcError !== null && rpcError.kind !== "refused") throw rpcError;
  }
  const read: Announcement[] = [];
  while (read.length < contracts.length) {
    const some = contracts.slice(read.length, read.length + MAX_SINGLE_CALLS);
    const calls = some.map((contract) => unwrapRpcError(client, "eth_call", readContract(client, contract)));
    read.push(...(await Promise.all(calls)));
  }
  return read;
}
