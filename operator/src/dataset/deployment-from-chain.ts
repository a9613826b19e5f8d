import { COMMITTEE_DIRECTORY, WEB_ORACLE_REGISTRY } from "@dataset-oracle/protocol/fixed-addresses";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import type { DeployedDataset, Deployment } from "@dataset-oracle/service/config/deployment";
import { type Address, type Hex, hexToNumber } from "viem";
import { createChainClient } from "../rpc/client.js";
import { connectEndpoint } from "../rpc/endpoint.js";
import { RpcError } from "../rpc/rpc-error.js";
import { hasCode, readKindAndForm } from "./contract.js";

/** The chain id of an endpoint that has not yet said which it serves. */
const UNKNOWN_NETWORK = 0;

/**
 * Reads from the chain what a deployment file would say about datasets. They have no names there, and list no keys.
 *
 * @param rpcUrls The first that answers is asked. They may hold tokens: they are in no error.
 * @param timeoutMs The deadline of each call.
 * @throws ConfigError when no endpoint answers, or an address is not a dataset's.
 */
export async function readDeployment(
  rpcUrls: readonly string[],
  addresses: readonly Address[],
  timeoutMs: number,
): Promise<Deployment> {
  const failures: string[] = [];
  for (const [index, url] of rpcUrls.entries()) {
    try {
      const endpoint = connectEndpoint(UNKNOWN_NETWORK, url, timeoutMs);
      const chainId = hexToNumber((await endpoint.request("eth_chainId", [])) as Hex);
      const client = createChainClient(chainId, endpoint);
      const read = async (address: Address): Promise<DeployedDataset> => {
        return { name: address, address, ...(await readKindAndForm({ client, address })), keys: [] };
      };
      const datasets = await Promise.all(addresses.map(read));
      const [hasDirectory, hasRegistry] = await Promise.all([
        hasCode(client, COMMITTEE_DIRECTORY),
        hasCode(client, WEB_ORACLE_REGISTRY),
      ]);
      return {
        chainId,
        datasets,
        ...(hasDirectory && { committeeDirectory: COMMITTEE_DIRECTORY }),
        ...(hasRegistry && { webOracleRegistry: WEB_ORACLE_REGISTRY }),
      };
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      failures.push(`rpcUrls/${index}: ${error.method}: ${error.reason}`);
    }
  }
  throw new ConfigError(
    `The datasets ${addresses.join(", ")} cannot be read from their chain: ${failures.join("; ")}. Check rpcUrls.`,
  );
}
