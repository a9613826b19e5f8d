import { COMMITTEE_DIRECTORY } from "@dataset-oracle/protocol/fixed-addresses";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { loadDeployment } from "@dataset-oracle/service/config/deployment";
import { rpcTransport } from "@dataset-oracle/service/http-client/rpc-transport";
import { type Address, createPublicClient } from "viem";
import { callRpc, RPC_MS } from "./call-rpc.js";

/** The contract in which the providers of a network announce their URLs. */
interface CommitteeDirectory {
  readonly chainId: number;
  readonly address: Address;
  /** The deployment file that names the network, or `--rpc-url` without its value, which may contain a token. */
  readonly namedBy: string;
}

/**
 * Finds the directory of a network: in its deployment file or, without one, by asking an endpoint whether there is one
 * at the address that the deterministic deployment proxy gives to the directory on every network.
 *
 * @throws ConfigError
 */
export async function findCommitteeDirectory(
  deploymentFile: string | undefined,
  rpcUrl: string | undefined,
): Promise<CommitteeDirectory> {
  if (deploymentFile !== undefined) {
    const { chainId, committeeDirectory } = loadDeployment(deploymentFile);
    if (committeeDirectory === undefined)
      throw new ConfigError(
        `${deploymentFile} has no committeeDirectory. Add the address of the directory of network ${chainId}.`,
      );
    return { chainId, address: committeeDirectory, namedBy: deploymentFile };
  }
  if (rpcUrl === undefined) throw new ConfigError("Name the network: --rpc-url URL or --deployment FILE.");
  const client = createPublicClient({ transport: rpcTransport(rpcUrl, RPC_MS) });
  const chainId = await callRpc(() => client.getChainId());
  const code = await callRpc(() => client.getCode({ address: COMMITTEE_DIRECTORY }));
  if (code === undefined)
    throw new ConfigError(
      `Network ${chainId} has no directory at ${COMMITTEE_DIRECTORY}. If it has one at another address, use ` +
        "--deployment FILE with a deployment file that names it.",
    );
  return { chainId, address: COMMITTEE_DIRECTORY, namedBy: "--rpc-url" };
}
