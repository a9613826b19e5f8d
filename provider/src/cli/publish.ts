import { webOracleRegistryAbi } from "@dataset-oracle/protocol/abi/web-oracle-registry";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { loadDeployment } from "@dataset-oracle/service/config/deployment";
import { parseCommandLine } from "@dataset-oracle/service/process/arguments";
import { encodeFunctionData } from "viem";
import { loadSpec, type PublishableSpec, warningsOf } from "./spec-file.js";
import { callRpc, connectSender, describeTransaction } from "./transactions.js";
import { PUBLISH_USAGE } from "./usage.js";

const OPTIONS = { deployment: { type: "string" }, "rpc-url": { type: "string" }, from: { type: "string" } } as const;

/** Runs `provider publish`: publishes specs that are not published yet, or prints the transactions. */
export async function publishSpecs(args: readonly string[]): Promise<void> {
  const { values: options, positionals: files } = parseCommandLine(args, PUBLISH_USAGE, OPTIONS);
  if (files.length === 0) throw new ConfigError(`Name the file of the spec.\n\n${PUBLISH_USAGE}`);
  const specs = files.map(loadSpec);
  const { deployment: file, "rpc-url": rpcUrl } = options;
  if (file === undefined) throw new ConfigError("Name the network's deployment file: --deployment FILE.");
  const { chainId, webOracleRegistry: registry, datasets } = loadDeployment(file);
  if (registry === undefined)
    throw new ConfigError(`${file} has no webOracleRegistry. Add the address of the registry of network ${chainId}.`);
  const callOf = ({ bytes }: PublishableSpec) => ({
    to: registry,
    data: encodeFunctionData({ abi: webOracleRegistryAbi, functionName: "publish", args: [bytes] }),
  });
  for (const warning of specs.flatMap(({ compiled }) => warningsOf(compiled))) console.error(warning);
  const show = (spec: PublishableSpec, what: string) => {
    const { keys, compiled } = spec;
    const dataset = datasets.find(({ kind, keyForm }) => kind === compiled.kind && keyForm === "WEB_ORACLE")?.address;
    const request = JSON.stringify({ network_id: chainId, dataset, key: keys, broadcast: true });
    const next = `curl "\${OPERATOR_URL:-http://127.0.0.1:8080}/data/request" -H 'content-type: application/json' -d '${request}'`;
    console.log(`${what}\n  key:   ${keys}\n  next:  ${next}`);
  };
  if (rpcUrl === undefined) {
    for (const spec of specs) show(spec, `${describeTransaction(chainId, callOf(spec))}\n`);
    return;
  }
  const { client, send } = await connectSender({ chainId, namedBy: file, rpcUrl, from: options.from }, process.env);
  const isPublished = async ({ hash }: PublishableSpec) => {
    const published = { address: registry, abi: webOracleRegistryAbi, functionName: "publishedAt" } as const;
    return (await callRpc(() => client.readContract({ ...published, args: [hash] }))) > 0n;
  };
  const isKnown = await Promise.all(specs.map(isPublished));
  const mined = await send(specs.filter((_, i) => !isKnown[i]).map(callOf));
  for (const [i, spec] of specs.entries()) {
    const sent = isKnown[i] ? undefined : mined.shift();
    const how = sent === undefined ? "; nothing was sent." : ` in block ${sent.block} (${sent.transaction}).`;
    show(spec, `${sent === undefined ? "Already published:" : "Published"} ${spec.hash} on network ${chainId}${how}`);
  }
}
