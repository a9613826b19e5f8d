import { COMMITTEE_DIRECTORY } from "@dataset-oracle/protocol/node-announcement";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { loadDeployment } from "@dataset-oracle/service/config/deployment";
import { type Address, createPublicClient } from "viem";
import { callRpc, rpcTransport } from "./rpc-endpoint.js";

/** The directory of a network. */
interface CommitteeDirectory {
  readonly chainId: number;
  readonly address: Address;
  /** The option that names the network, with its value unless that can hold a token. */
  readonly namedBy: string;
}

/**
 * Finds the directory of a network: as its deployment file says or, without one, through an endpoint, at the address that
 * directories have on every network with the deterministic deployment proxy.
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
      throw new ConfigError(`${deploymentFile} has no committeeDirectory: network ${chainId} has none.`);
    return { chainId, address: committeeDirectory, namedBy: deploymentFile };
  }
  if (rpcUrl === undefined) throw new ConfigError("Name the network: --rpc-url URL or --deployment FILE.");
  const client = createPublicClient({ transport: rpcTransport(rpcUrl) });
  const chainId = await callRpc(() => client.getChainId());
  const code = await callRpc(() => client.getCode({ address: COMMITTEE_DIRECTORY }));
  if (code === undefined)
    throw new ConfigError(
      `Network ${chainId} has no directory at ${COMMITTEE_DIRECTORY}. If it has another, name its deployment file: --deployment FILE.`,
    );
  return { chainId, address: COMMITTEE_DIRECTORY, namedBy: "--rpc-url" };
}
