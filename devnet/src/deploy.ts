import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { type DeployedDataset, loadDeployment } from "@dataset-oracle/service/deployment";
import { foundryBinary, foundryEnv, ROOT } from "@dataset-oracle/tools/foundry";
import type { Address } from "viem";
import type { Folder } from "./folder.js";
import type { Parts } from "./parts.js";
import { OWNER } from "./roles.js";
import type { WebOracle } from "./web-oracle.js";

/** What the scripts deployed on the devnet's chain. */
export interface Deployed {
  readonly dataset: DeployedDataset;
  readonly webOracle: WebOracle;
  /** The example in test/examples, with some Ether to pay its queries. */
  readonly consumer: Address;
}

const SCRIPT_MS = 110_000;

/** Deploys the financial dataset, the Web Oracle and the example consumer, with the scripts that deploy to any network. */
export async function deploy(chainUrl: string, folder: Folder, parts: Parts): Promise<Deployed> {
  const run = (script: string, env: Record<string, string>) => runScript(script, chainUrl, folder, parts, env);
  await run("script/DeployFinancialDataset.s.sol", {});
  const dataset = findDataset(folder, "financial");
  const output = await run("script/DeployExampleConsumer.s.sol", { ORACLE: dataset.address });
  const consumer = /Example consumer: (0x[0-9a-fA-F]{40})/.exec(output)?.[1];
  if (!consumer) throw new Error("The script did not say where the example consumer is.");
  await run("script/DeployWebOracle.s.sol", {});
  const { webOracleRegistry: registry } = loadDeployment(folder.file("deployments", "42.json"));
  if (!registry) throw new Error("The deployment names no registry.");
  const [numbers, words] = ["webOracleNumber", "webOracleBytes"].map((name) => findDataset(folder, name).address);
  if (!numbers || !words) throw new Error("The deployment lacks a dataset.");
  return { dataset, consumer: consumer as Address, webOracle: { numbers, words, registry } };
}

/** A dataset of the deployment file. */
export function findDataset(folder: Folder, name: string): DeployedDataset {
  const found = loadDeployment(folder.file("deployments", "42.json")).datasets.find((dataset) => dataset.name === name);
  if (!found) throw new Error(`The deployment names no dataset ${name}.`);
  return found;
}

/** forge starts compilers of its own: it gets a process group, so that all of them can be ended. */
async function runScript(
  script: string,
  chainUrl: string,
  folder: Folder,
  parts: Parts,
  env: Record<string, string>,
): Promise<string> {
  const args = ["script", script, "--rpc-url", chainUrl, "--unlocked", "--sender", OWNER.address, "--broadcast"];
  const child = spawn(foundryBinary("forge"), args, {
    cwd: ROOT,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...foundryEnv(),
      DEPLOYMENTS_DIR: folder.file("deployments"),
      FOUNDRY_BROADCAST: folder.file("broadcast"),
      ...env,
    },
  });
  const exited = once(child, "exit").then(() => undefined);
  const end = () => {
    if (child.exitCode === null && child.signalCode === null && child.pid) process.kill(-child.pid, "SIGKILL");
  };
  parts.own({
    exited,
    async close() {
      end();
      await exited;
    },
  });
  const timer = setTimeout(end, SCRIPT_MS);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  clearTimeout(timer);
  const log = folder.file("logs", `${script.split("/").at(-1)}.log`);
  writeFileSync(log, stdout + stderr);
  if (child.exitCode !== 0) throw new Error(`${script} failed. Its log is ${log}.`);
  return stdout;
}
