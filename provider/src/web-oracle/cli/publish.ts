import { webOracleRegistryAbi } from "@dataset-oracle/protocol/abi/web-oracle-registry";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { loadDeployment } from "@dataset-oracle/service/config/deployment";
import { encodeFunctionData } from "viem";
import { callRpc } from "../../cli/call-rpc.js";
import { connectSender, describeTransaction } from "../../cli/send-transactions.js";
import type { PublishableSpec } from "../publishable-spec.js";
import type { CliCommand } from "./arguments.js";

/**
 * Publishes specs that are not published yet, one transaction each, or with --dry-run prints the transactions.
 *
 * @returns The text for the person at the terminal.
 * @throws ConfigError
 */
export async function publish(
  specs: readonly PublishableSpec[],
  options: CliCommand["options"],
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const { deployment: file, "rpc-url": rpcUrl } = options;
  if (file === undefined) throw new ConfigError("Name the network's deployment file: --deployment FILE.");
  const { chainId, webOracleRegistry: registry } = loadDeployment(file);
  if (registry === undefined)
    throw new ConfigError(`${file} has no webOracleRegistry. Add the address of the registry of network ${chainId}.`);
  const callOf = ({ bytes }: PublishableSpec) => ({
    to: registry,
    data: encodeFunctionData({ abi: webOracleRegistryAbi, functionName: "publish", args: [bytes] }),
  });
  if (options["dry-run"] === true)
    return specs.map((spec) => describeTransaction(chainId, callOf(spec), rpcUrl)).join("\n\n");
  if (rpcUrl === undefined) throw new ConfigError("Name the network's JSON-RPC endpoint: --rpc-url URL.");
  const { client, send } = await connectSender({ chainId, namedBy: file, rpcUrl, from: options.from }, env);
  const isPublished = async ({ hash }: PublishableSpec) => {
    const published = { address: registry, abi: webOracleRegistryAbi, functionName: "publishedAt" } as const;
    return (await callRpc(() => client.readContract({ ...published, args: [hash] }))) > 0n;
  };
  const isKnown = await Promise.all(specs.map(isPublished));
  const mined = await send(specs.filter((_, i) => !isKnown[i]).map(callOf));
  return specs
    .map(({ hash }, i) => {
      const sent = isKnown[i] ? undefined : mined.shift();
      return sent === undefined
        ? `Already published: ${hash} on network ${chainId}; nothing was sent.`
        : `Published ${hash} on network ${chainId} in block ${sent.block} (${sent.transaction}).`;
    })
    .join("\n");
}
