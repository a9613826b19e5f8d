import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "@dataset-oracle/devnet/ports";
import { type Process, respondsOk, startProcess } from "@dataset-oracle/devnet/processes";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import type { Devnet } from "../../../../devnet/test/devnet-process.js";

/** Another operator of the devnet's chain, in a process of its own. */
export interface ExtraOperator {
  readonly url: string;
  readonly process: Process;
}

interface ExtraOperatorSettings {
  readonly name: string;
  readonly basePath?: string;
  readonly requestsPerMinute?: number;
  /** Of the network. */
  readonly network?: Readonly<Record<string, unknown>>;
  readonly privateKey?: string;
}

/** Starts an operator that differs from the devnet's in these settings. */
export async function startExtraOperator(
  devnet: Devnet,
  folder: string,
  settings: ExtraOperatorSettings,
): Promise<ExtraOperator> {
  const { name, basePath = "", requestsPerMinute = 10_000, network = {}, privateKey } = settings;
  const port = await freePort();
  const config = join(folder, `${name}.json`);
  mkdirSync(folder, { recursive: true });
  const providers = devnet.providers.map(({ address, url }) => ({ address, url }));
  const ofNetwork = { deployment: join(folder, "..", "deployments", "42.json"), rpcUrls: [devnet.chain], providers };
  const networks = [{ ...ofNetwork, rpcPollMs: 200, ...network }];
  writeFileSync(config, JSON.stringify({ port, basePath, metricsPort: 0, requestsPerMinute, networks }));
  const url = `http://127.0.0.1:${port}${basePath}`;
  const child = await startProcess({
    name,
    command: process.execPath,
    args: [join(ROOT, "operator/dist/main.js"), "--config", config],
    env: privateKey === undefined ? {} : { OPERATOR_PRIVATE_KEY: privateKey },
    logFile: join(folder, `${name}.log`),
    isReady: () => respondsOk(`http://127.0.0.1:${port}/ready`),
  });
  await child.ready();
  return { url, process: child };
}
