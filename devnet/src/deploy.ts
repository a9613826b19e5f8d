import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { type DeployedDataset, loadDeployment } from "@dataset-oracle/service/deployment";
import { foundryBinary, foundryEnv, ROOT } from "@dataset-oracle/tools/foundry";
import type { Address } from "viem";
import type { Folder } from "./folder.js";
import { OWNER } from "./roles.js";

/** What the scripts deployed on the devnet's chain. */
export interface Deployed {
  readonly dataset: DeployedDataset;
  /** The example in test/examples, with some Ether to pay its queries. */
  readonly consumer: Address;
}

const SCRIPT_MS = 110_000;

/** Deploys the financial dataset and the example consumer, with the scripts that deploy to any network. */
export async function deploy(chainUrl: string, folder: Folder): Promise<Deployed> {
  await runScript("script/DeployFinancialDataset.s.sol", chainUrl, folder);
  const [dataset] = loadDeployment(folder.file("deployments", "42.json")).datasets;
  if (!dataset) throw new Error("The deployment names no dataset.");
  const output = await runScript("script/DeployExampleConsumer.s.sol", chainUrl, folder, { ORACLE: dataset.address });
  const consumer = /Example consumer: (0x[0-9a-fA-F]{40})/.exec(output)?.[1];
  if (!consumer) throw new Error("The script did not say where the example consumer is.");
  return { dataset, consumer: consumer as Address };
}

async function runScript(script: string, chainUrl: string, folder: Folder, env: Record<string, string> = {}) {
  const args = ["script", script, "--rpc-url", chainUrl, "--unlocked", "--sender", OWNER.address, "--broadcast"];
  const log = folder.file("logs", `${script.split("/").at(-1)}.log`);
  try {
    const { stdout, stderr } = await promisify(execFile)(foundryBinary("forge"), args, {
      cwd: ROOT,
      env: {
        ...foundryEnv(),
        DEPLOYMENTS_DIR: folder.file("deployments"),
        FOUNDRY_BROADCAST: folder.file("broadcast"),
        ...env,
      },
      timeout: SCRIPT_MS,
      maxBuffer: 64 * 1024 * 1024,
    });
    writeFileSync(log, stdout + stderr);
    return stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    writeFileSync(log, `${stdout ?? ""}${stderr ?? ""}`);
    throw new Error(`${script} failed. Its log is ${log}.`, { cause: error });
  }
}
