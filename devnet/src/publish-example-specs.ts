import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import { webOracleKey } from "@dataset-oracle/protocol/web-oracle-key";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { type Address, type Hex, isAddressEqual } from "viem";
import { CALLER, OWNER } from "./accounts.js";
import type { WebOracleContracts } from "./deploy.js";
import type { DevnetContext } from "./devnet-context.js";

/** A spec in devnet/specs, and arguments for it. */
interface Example {
  readonly name: string;
  readonly dataset: "numbers" | "words";
  readonly args: readonly string[];
}

const EXAMPLES: readonly Example[] = [
  { name: "temperature", dataset: "numbers", args: ["London"] },
  { name: "sky", dataset: "words", args: ["São Paulo"] },
  { name: "raining", dataset: "words", args: ["London"] },
  { name: "document", dataset: "words", args: ["storms", "7"] },
];

/** A published example, whose key can be requested. */
export interface PublishedExample {
  readonly name: string;
  readonly dataset: Address;
  /** In ASCII. */
  readonly key: string;
  readonly keyHex: Hex;
}

/** The command-line program for dapp developers. */
const PROVIDER_COMMAND = join(ROOT, "provider", "dist", "main.js");

const PUBLISH_MS = 60_000;

/** Publishes the specs in devnet/specs as a dapp developer would. */
export async function publishExampleSpecs(
  devnet: DevnetContext,
  webOracle: WebOracleContracts,
): Promise<PublishedExample[]> {
  const files = EXAMPLES.map(({ name }) => join("devnet", "specs", `${name}.json`));
  const command = [PROVIDER_COMMAND, ...publishArguments(devnet, files, OWNER.address)];
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: ROOT, timeout: PUBLISH_MS });
  const published = [...stdout.matchAll(/^Published (0x[0-9a-f]{64}) /gm)].map(([, specHash]) => specHash as Hex);
  return EXAMPLES.map(({ name, dataset, args }, i) => {
    const specHash = published[i];
    if (specHash === undefined) throw new Error(`${files[i]} was not published: ${stdout}`);
    const key = webOracleKey({ specHash, args });
    if (!key.ok) throw new Error(key.error);
    return { name, dataset: webOracle[dataset], key: keyToAscii(key.value) ?? "", keyHex: key.value };
  });
}

/** What is changed of a deployment file. */
interface DeployedKeys {
  readonly datasets: Readonly<Record<string, { readonly address: Address; readonly keys: string[] }>>;
}

/** Lists the examples' keys in the deployment file, so that the operators which start with it show them. */
export function listExampleKeys({ folder }: DevnetContext, examples: readonly PublishedExample[]): void {
  const path = folder.file("deployments", "42.json");
  const file = JSON.parse(readFileSync(path, "utf8")) as DeployedKeys;
  for (const { address, keys } of Object.values(file.datasets)) {
    keys.push(...examples.flatMap(({ dataset, key }) => (isAddressEqual(dataset, address) ? [key] : [])));
  }
  writeFileSync(path, `${JSON.stringify(file, null, 2)}\n`);
}

/** Returns the arguments that publish specs on the devnet from an unlocked account. */
export function publishArguments(
  { chainUrl, folder }: Pick<DevnetContext, "chainUrl" | "folder">,
  specs: readonly string[],
  from = CALLER.address,
): string[] {
  const deployment = folder.file("deployments", "42.json");
  return ["publish", ...specs, "--deployment", deployment, "--rpc-url", chainUrl, "--from", from];
}
