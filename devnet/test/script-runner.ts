import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { deriveAccount } from "@dataset-oracle/devnet/accounts";
import { startAnvil } from "@dataset-oracle/devnet/anvil";
import { loadDeployment } from "@dataset-oracle/service/config/deployment";
import { foundryBinary, foundryEnv } from "@dataset-oracle/tools/foundry";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { createTestClient, http, publicActions, walletActions } from "viem";

/** The first account of a development chain. All ten are unlocked. */
export const OWNER = deriveAccount(0).address;

/** A chain, a folder for what the scripts write, and a way to run them as a user does in a shell. */
export async function startScriptRunner(chainId: number, options: { hardfork?: string } = {}) {
  // forge may write only below deployments/.
  const folder = mkdtempSync(join(ROOT, "deployments", "test-"));
  const chain = await startAnvil({ ...options, chainId });
  const client = createTestClient({ mode: "anvil", pollingInterval: 100, transport: http(chain.url) })
    .extend(publicActions)
    .extend(walletActions);
  const settingsFile = join(folder, "settings.json");
  const deploymentFile = join(folder, `${chainId}.json`);

  /** Runs script/<name>.s.sol; a dry run unless `--broadcast` is among the arguments. */
  async function run(name: string, args: string[] = [], env: Record<string, string> = {}, sender = OWNER) {
    const command = ["script", `script/${name}.s.sol`, "--rpc-url", chain.url, "--unlocked", "--sender", sender];
    const execution = {
      cwd: ROOT,
      env: {
        ...foundryEnv(),
        DEPLOY_CONFIG: settingsFile,
        DEPLOYMENTS_DIR: relative(ROOT, folder),
        FOUNDRY_BROADCAST: join(folder, "broadcast"),
        ...env,
      },
      maxBuffer: 64 * 1024 * 1024,
      timeout: 110_000,
    };
    // forge reads the state of the last block, so that changes by a test must be mined first.
    await client.mine({ blocks: 1 });
    const before = await client.getTransactionCount({ address: sender });
    const { stdout, stderr, exitCode } = await promisify(execFile)(
      foundryBinary("forge"),
      [...command, ...args],
      execution,
    ).then(
      (output) => ({ ...output, exitCode: 0 }),
      (error) => ({ stdout: error.stdout as string, stderr: error.stderr as string, exitCode: error.code as number }),
    );
    const sent = (await client.getTransactionCount({ address: sender })) - before;
    return { exitCode, output: stdout + stderr, lastLine: stderr.trimEnd().split("\n").at(-1), sent };
  }

  return {
    client,
    settingsFile,
    deploymentFile,
    run,
    /** Writes the settings that the next runs read. */
    configure: (settings: object) => writeFileSync(settingsFile, JSON.stringify(settings)),
    deployment: () => loadDeployment(deploymentFile),
    async close() {
      await chain.close();
      rmSync(folder, { recursive: true });
    },
  };
}

export type ScriptRunner = Awaited<ReturnType<typeof startScriptRunner>>;
