import { webOracleRegistryAbi } from "@dataset-oracle/protocol/abi/web-oracle-registry";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { loadDeployment } from "@dataset-oracle/service/config/deployment";
import { encodeFunctionData } from "viem";
import { describeTransaction, sendTransactions } from "../../cli/send-transactions.js";
import type { CliCommand } from "./arguments.js";
import type { LoadedSpec } from "./spec-file.js";

/**
 * Publishes specs, one transaction each, or with --dry-run prints the transactions.
 *
 * @returns The text for the person at the terminal.
 * @throws ConfigError
 */
export async function publish(
  specs: readonly LoadedSpec[],
  options: CliCommand["options"],
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const { deployment: file, "rpc-url": rpcUrl } = options;
  if (file === undefined) throw new ConfigError("Name the network's deployment file: --deployment FILE.");
  const { chainId, webOracleRegistry: registry } = loadDeployment(file);
  if (registry === undefined)
    throw new ConfigError(`${file} has no webOracleRegistry. Add the address of the registry of network ${chainId}.`);
  const calls = specs.map(({ bytes }) => ({
    to: registry,
    data: encodeFunctionData({ abi: webOracleRegistryAbi, functionName: "publish", args: [bytes] }),
  }));
  if (options["dry-run"] === true) return calls.map((call) => describeTransaction(chainId, call, rpcUrl)).join("\n\n");
  if (rpcUrl === undefined) throw new ConfigError("Name the network's JSON-RPC endpoint: --rpc-url URL.");
  const mined = await sendTransactions(calls, { chainId, namedBy: file, rpcUrl, from: options.from }, env);
  return mined
    .map(({ block, transaction }, i) => {
      const hash = specs[i]?.hash;
      return `Published ${hash} on network ${chainId} in block ${block} (${transaction}).`;
    })
    .join("\n");
}
