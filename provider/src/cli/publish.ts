import { webOracleRegistryAbi } from "@dataset-oracle/protocol/abi/web-oracle-registry";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { loadDeployment } from "@dataset-oracle/service/config/deployment";
import { parseCommandLine } from "@dataset-oracle/service/process/arguments";
import { encodeFunctionData } from "viem";
import { loadSpec, type PublishableSpec } from "./spec-file.js";
import { callRpc, connectSender, describeTransaction } from "./transactions.js";
import { PUBLISH_USAGE } from "./usage.js";

const OPTIONS = {
  deployment: { type: "string" },
  "rpc-url": { type: "string" },
  from: { type: "string" },
} as const;

/** Runs `provider publish`: publishes specs that are not published yet, or prints the transactions. */
export async function publishSpecs(args: readonly string[]): Promise<void> {
  const { values: options, positionals: files } = parseCommandLine(args, PUBLISH_USAGE, OPTIONS);
  if (files.length === 0) throw new ConfigError(`Name the file of the spec.\n\n${PUBLISH_USAGE}`);
  const specs = files.map(loadSpec);
  const { deployment: file, "rpc-url": rpcUrl } = options;
  if (file === undefined) throw new ConfigError("Name the network's deployment file: --deployment FILE.");
  const { chainId, webOracleRegistry: registry } = loadDeployment(file);
  if (registry === undefined)
    throw new ConfigError(`${file} has no webOracleRegistry. Add the address of the registry of network ${chainId}.`);
  const callOf = ({ bytes }: PublishableSpec) => ({
    to: registry,
    data: encodeFunctionData({ abi: webOracleRegistryAbi, functionName: "publish", args: [bytes] }),
  });
  if (rpcUrl === undefined)
    return console.log(specs.map((spec) => describeTransaction(chainId, callOf(spec))).join("\n\n"));
  const { client, send } = await connectSender({ chainId, namedBy: file, rpcUrl, from: options.from }, process.env);
  const isPublished = async ({ hash }: PublishableSpec) => {
    const published = { address: registry, abi: webOracleRegistryAbi, functionName: "publishedAt" } as const;
    return (await callRpc(() => client.readContract({ ...published, args: [hash] }))) > 0n;
  };
  const isKnown = await Promise.all(specs.map(isPublished));
  const mined = await send(specs.filter((_, i) => !isKnown[i]).map(callOf));
  const lines = specs.map(({ hash }, i) => {
    const sent = isKnown[i] ? undefined : mined.shift();
    return sent === undefined
      ? `Already published: ${hash} on network ${chainId}; nothing was sent.`
      : `Published ${hash} on network ${chainId} in block ${sent.block} (${sent.transaction}).`;
  });
  console.log(lines.join("\n"));
}
