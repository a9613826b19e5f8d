import { committeeDirectoryAbi } from "@dataset-oracle/protocol/abi/committee-directory";
import { BASE_URL_PATTERN, withoutFinalSlashes } from "@dataset-oracle/protocol/base-url";
import type { Address } from "viem";
import { multicall, readContract } from "viem/actions";
import type { ChainClient } from "../rpc/client.js";
import { unwrapRpcError } from "../rpc/rpc-error.js";
import { readTogether } from "./contract.js";

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
  const contractOf = (provider: Address) =>
    ({ address: directory, abi: committeeDirectoryAbi, functionName: "announcementOf", args: [provider] }) as const;
  const announced = await readTogether(
    providers,
    (some) => multicall(client, { contracts: some.map(contractOf), deployless: true, allowFailure: false }),
    (provider) => unwrapRpcError(client, "eth_call", readContract(client, contractOf(provider))),
  );
  const urls = announced.flatMap(([url], index) => {
    const isValid = BASE_URL.test(url) && URL.canParse(url);
    return isValid ? [[providers[index] as Address, withoutFinalSlashes(url)] as const] : [];
  });
  return new Map(urls);
}
