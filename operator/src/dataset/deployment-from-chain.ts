import { COMMITTEE_DIRECTORY, WEB_ORACLE_REGISTRY } from "@dataset-oracle/protocol/fixed-addresses";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import type { DeployedContracts } from "@dataset-oracle/service/config/deployment";
import { type Hex, hexToNumber } from "viem";
import type { ChainClient } from "../rpc/client.js";
import { connectEndpoint } from "../rpc/endpoint.js";
import { describeError } from "../rpc/rpc-error.js";
import { hasCode } from "./contract.js";

/** The chain id of an endpoint that has not yet said which it serves. */
const UNKNOWN_NETWORK = 0;

/**
 * Reads the chain id of the endpoint that answers first.
 *
 * @param rpcUrls They may hold tokens: they are in no error.
 * @param at Begins the error.
 * @param timeoutMs The deadline of the calls.
 * @throws ConfigError when none answers.
 */
export async function readChainId(rpcUrls: readonly string[], at: string, timeoutMs: number): Promise<number> {
  const ask = (url: string) => connectEndpoint(UNKNOWN_NETWORK, url, timeoutMs).request("eth_chainId", []);
  const answer = await Promise.any(rpcUrls.map(ask)).catch(({ errors }: AggregateError) => {
    const reasons = errors.map((error, index) => `rpcUrls/${index}: ${describeError(error)}`);
    throw new ConfigError(
      `${at}: the chain id cannot be read: ${reasons.join("; ")}. Check rpcUrls, or set networkId to the chain id: then ` +
        "the operator starts, and serves the network once an endpoint answers.",
    );
  });
  return hexToNumber(answer as Hex);
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
