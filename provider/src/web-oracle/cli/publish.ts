import { webOracleRegistryAbi } from "@dataset-oracle/protocol/abi/web-oracle-registry";
import { parseAddress } from "@dataset-oracle/protocol/address";
import { loadAccount } from "@dataset-oracle/service/accounts";
import { ConfigError } from "@dataset-oracle/service/config";
import { loadDeployment } from "@dataset-oracle/service/deployment";
import {
  type Account,
  type Address,
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  type Hex,
  http,
} from "viem";
import type { CliCommand } from "./arguments.js";
import type { LoadedSpec } from "./load-spec.js";

const MINED_MS = 120_000;

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
  if (registry === undefined) throw new ConfigError(`${file} has no webOracleRegistry: network ${chainId} has none.`);
  const callOf = ({ bytes }: LoadedSpec) =>
    ({ abi: webOracleRegistryAbi, functionName: "publish", args: [bytes] }) as const;
  if (options["dry-run"] === true) {
    return specs.map((spec) => describe(chainId, registry, encodeFunctionData(callOf(spec)), rpcUrl)).join("\n\n");
  }
  if (rpcUrl === undefined) throw new ConfigError("Name the network's JSON-RPC endpoint: --rpc-url URL.");
  const account = await senderOf(options.from, env);

  const transport = http(rpcUrl, { retryCount: 0, timeout: 10_000 });
  const client = createPublicClient({ transport, pollingInterval: 500 });
  const asked = await ask(() => client.getChainId());
  if (asked !== chainId)
    throw new ConfigError(
      `The endpoint belongs to network ${asked}, but ${file} to network ${chainId}. Change one of them.`,
    );
  const wallet = createWalletClient({ account, transport });
  const sent: { hash: Hex; transaction: Hex }[] = [];
  for (const spec of specs) {
    const transaction = await ask(() => wallet.writeContract({ ...callOf(spec), address: registry, chain: null }));
    sent.push({ hash: spec.hash, transaction });
  }
  const lines = sent.map(async ({ hash, transaction }) => {
    const receipt = await ask(() => client.waitForTransactionReceipt({ hash: transaction, timeout: MINED_MS }));
    if (receipt.status !== "success")
      throw new ConfigError(`The transaction ${transaction} reverted. Its trace says why: cast run ${transaction}`);
    return `Published ${hash} on network ${chainId}, in block ${receipt.blockNumber}, by ${transaction}.`;
  });
  return (await Promise.all(lines)).join("\n");
}

async function senderOf(from: string | undefined, env: NodeJS.ProcessEnv): Promise<Account | Address> {
  if (from === undefined) return (await loadAccount(env, "PUBLISHER")).account;
  const address = parseAddress(from);
  if (!address.ok) throw new ConfigError(`--from: ${address.error}`);
  return address.value;
}

function describe(chainId: number, registry: Address, data: Hex, rpcUrl = "<url>"): string {
  return [
    "Nothing was sent. The transaction:",
    JSON.stringify({ chainId, to: registry, value: "0x0", data }, null, 2),
    "",
    "To send it with cast, from a keystore:",
    `cast send ${registry} ${data} --rpc-url ${rpcUrl} --account <keystore>`,
  ].join("\n");
}

/** Leaves out most of viem's message, which contains the endpoint's URL and so perhaps a token. */
async function ask<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const { details, name } = error as { details?: string; name?: string };
    throw new ConfigError(
      `The RPC endpoint failed or refused the call: ${details || name}. Check --rpc-url and the account's balance.`,
    );
  }
}
