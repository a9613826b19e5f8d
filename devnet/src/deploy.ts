import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type DeployedDataset, loadDeployment } from "@dataset-oracle/service/config/deployment";
import { finishDeploymentFile } from "@dataset-oracle/tools/deployment-file";
import { foundryBinary, foundryEnv, SCRIPT_FLAGS } from "@dataset-oracle/tools/foundry";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import type { Address } from "viem";
import { OWNER } from "./accounts.js";
import type { DataFolder } from "./data-folder.js";
import type { DevnetContext } from "./devnet-context.js";

/** The Web Oracle on the devnet's chain. */
export interface WebOracleContracts {
  /** The dataset of numbers. */
  readonly numbers: Address;
  /** The dataset of 32-byte values. */
  readonly words: Address;
  readonly registry: Address;
}

/** The contracts on the devnet's chain. */
export interface Deployed {
  readonly dataset: DeployedDataset;
  readonly webOracle: WebOracleContracts;
  /** The example consumer of test/examples, with some Ether to pay for its queries. */
  readonly consumer: Address;
  /** The lens for verified reads (ERC-3668), whose gateway is the devnet's operator. */
  readonly lens: Address;
  /** The directory in which data providers announce their URLs. */
  readonly directory: Address;
}

/** A script may have to be compiled before it runs, and the contracts take minutes on a slow machine. */
const FORGE_MS = 600_000;

/** forge's record of what it has compiled. */
const CACHE = "solidity-files-cache.json";

/** Compiles the contracts and the scripts, which takes about a minute the first time. */
export async function compile(devnet: DevnetContext): Promise<void> {
  await runForge(devnet, "compile", ["build", "src", "script"]);
  // Each script writes the record again. Another forge that read half of it would compile everything once more.
  cpSync(join(ROOT, "cache", CACHE), devnet.folder.file("cache", CACHE));
}

/**
 * Deploys the financial dataset, the Web Oracle, the example consumer, the lens and the directory of providers, with
 * the scripts that deploy to any network.
 */
export async function deploy(devnet: DevnetContext): Promise<Deployed> {
  const { folder, chainUrl, operatorUrl } = devnet;
  const folders = { rpcUrl: chainUrl, deployments: folder.file("deployments"), broadcast: folder.file("broadcast") };
  const run = async (name: string, env: Record<string, string> = {}) => {
    const args = ["script", `script/${name}.s.sol`, "--rpc-url", chainUrl, ...SCRIPT_FLAGS];
    args.push("--unlocked", "--sender", OWNER.address, "--broadcast");
    const output = await runForge(devnet, name, args, {
      DEPLOYMENTS_DIR: folders.deployments,
      FOUNDRY_BROADCAST: folders.broadcast,
      FOUNDRY_CACHE_PATH: folder.file("cache"),
      ...env,
    });
    await finishDeploymentFile(folders, "succeeded");
    return output;
  };
  await run("DeployFinancialDataset");
  const dataset = findDataset(folder, "financial");
  const output = await run("DeployExampleConsumer", { ORACLE: dataset.address });
  const consumer = /Example consumer: (0x[0-9a-fA-F]{40})/.exec(output)?.[1];
  if (!consumer) throw new Error("The output of DeployExampleConsumer.s.sol has no address of the example consumer.");
  await run("DeployWebOracle");
  await run("DeployVerifiedLens", { GATEWAYS: `${operatorUrl}/gateway/42/{sender}/{data}` });
  // Last, so that the contracts before it keep their addresses, which the documents name.
  await run("DeployCommitteeDirectory");
  const {
    webOracleRegistry: registry,
    verifiedLens: lens,
    committeeDirectory: directory,
  } = loadDeployment(folder.file("deployments", "42.json"));
  if (!registry || !lens || !directory)
    throw new Error("The deployment file lacks webOracleRegistry, verifiedLens or committeeDirectory.");
  const [numbers, words] = ["webOracleNumber", "webOracleBytes"].map((name) => findDataset(folder, name).address);
  if (!numbers || !words) throw new Error("The deployment file lacks a Web Oracle dataset.");
  return { dataset, consumer: consumer as Address, lens, directory, webOracle: { numbers, words, registry } };
}

/** Returns a dataset of the deployment file. */
export function findDataset(folder: DataFolder, name: string): DeployedDataset {
  const found = loadDeployment(folder.file("deployments", "42.json")).datasets.find((dataset) => dataset.name === name);
  if (!found) throw new Error(`The deployment file has no dataset ${name}.`);
  return found;
}

/** Runs forge in a process group of its own, so that its compilers can be ended with it. */
async function runForge(
  { folder, components }: DevnetContext,
  logName: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<string> {
  const child = spawn(foundryBinary("forge"), args, {
    cwd: ROOT,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...foundryEnv(), ...env },
  });
  // It rejects if forge cannot be run.
  const ended = once(child, "exit");
  const exited = ended.then(
    () => undefined,
    () => undefined,
  );
  const end = () => {
    if (child.exitCode === null && child.signalCode === null && child.pid) process.kill(-child.pid, "SIGKILL");
  };
  components.add({
    exited,
    async close() {
      end();
      await exited;
    },
  });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    end();
  }, FORGE_MS);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  clearTimeout(timer);
  const log = folder.file("logs", `${logName}.log`);
  writeFileSync(log, stdout + stderr);
  if (child.exitCode === 0) return stdout;
  const failure = isLate ? `took longer than ${FORGE_MS / 1000} s and was ended` : "failed";
  throw new Error(`forge ${args[0]} ${args[1]} ${failure}. See its log: ${log}`);
}
