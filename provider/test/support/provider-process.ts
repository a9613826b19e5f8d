import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import type { ReportAnswer } from "@dataset-oracle/protocol/http-schemas/reports";
import { OTHER_SOURCES } from "./fake-exchanges.js";
import { DATASET, request } from "./test-provider.js";

const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

/** The last resort for a test that went wrong; longer than any of them takes. */
const KILL_MS = 280_000;

/** A folder with a deployment of the network, and with a configuration; the paths of both. */
export function writeConfig(settings: object, chainId = 42, keys = ["SPOTPX/ETH-USD", "SPOTPX/NOSUCH-USD"]) {
  const folder = mkdtempSync(join(tmpdir(), "provider-"));
  const datasets = { financial: { address: DATASET, kind: "median", keyForm: "SPOT_PRICE", keys } };
  writeFileSync(join(folder, "deployment.json"), JSON.stringify({ chainId, datasets }));
  const config = join(folder, "provider.json");
  writeFileSync(
    config,
    JSON.stringify({
      port: 0,
      metricsPort: 0,
      lease: "lease",
      deployments: ["deployment.json"],
      excludedSources: OTHER_SOURCES,
      ...settings,
    }),
  );
  return { folder, config };
}

/**
 * A provider's process, and all that it printed so far.
 *
 * @param starter A command that starts the command line which follows its own arguments.
 */
export function spawnProvider(args: readonly string[], env: Record<string, string>, starter: readonly string[] = []) {
  const [program = "", ...rest] = [...starter, process.execPath, MAIN, ...args];
  const child = spawn(program, rest, { env: { ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) child[name].on("data", (data) => (printed[name] += String(data)));
  const timer = setTimeout(() => child.kill("SIGKILL"), KILL_MS);
  const closed = once(child, "close").finally(() => clearTimeout(timer));
  return { child: child as ChildProcess, printed, closed };
}

export type ProviderProcess = ReturnType<typeof spawnProvider>;

/** Waits until a provider's process has printed something, and returns the group of the pattern. */
async function untilPrinted({ child, printed }: ProviderProcess, pattern: RegExp): Promise<string> {
  while (child.exitCode === null && child.signalCode === null) {
    const found = pattern.exec(printed.stdout)?.[1];
    if (found !== undefined) return found;
    await sleep(20);
  }
  throw new Error(`The provider ended too early: ${printed.stderr}`);
}

/** The address that a provider's process says it listens on. */
export const untilListening = (provider: ProviderProcess) => untilPrinted(provider, /listening at (http:[^"]+)"/);

/** Waits until a provider's process signs. */
export async function untilReady(url: string): Promise<void> {
  while ((await fetch(`${url}/ready`)).status !== 200) {
    await sleep(100);
  }
}

/** Asks a provider's process for a report. */
export async function askForReport(url: string, round: number, pair = "ETH-USD") {
  const response = await fetch(`${url}/report`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...request(round), key: spotPriceKey(pair) }),
  });
  return { status: response.status, body: (await response.json()) as ReportAnswer };
}

/** Runs a provider that is expected to end by itself. */
export async function runProvider(
  args: readonly string[],
  env: Record<string, string> = {},
  starter: readonly string[] = [],
) {
  const { printed, closed } = spawnProvider(args, env, starter);
  const [code] = await closed;
  return { code: code as number | null, ...printed };
}
