import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { type ServiceProcess, startService } from "@dataset-oracle/devnet/service-process";
import type { Devnet } from "../../../../devnet/test/devnet-process.js";

interface ExtraOperatorSettings {
  readonly name: string;
  readonly basePath?: string;
  /** Of the network. */
  readonly network?: Readonly<Record<string, unknown>>;
  readonly privateKey?: string;
}

/** Starts another operator of the devnet's chain, which differs from the devnet's in these settings. */
export async function startExtraOperator(
  devnet: Devnet,
  folder: string,
  settings: ExtraOperatorSettings,
): Promise<ServiceProcess> {
  const { name, basePath = "", network = {}, privateKey } = settings;
  mkdirSync(folder, { recursive: true });
  const providers = devnet.providers.map(({ address, url }) => ({ address, url }));
  const ofNetwork = { deployment: join(folder, "..", "deployments", "42.json"), rpcUrls: [devnet.chain], providers };
  const networks = [{ ...ofNetwork, rpcPollMs: 200, ...network }];
  const config = { port: await freePort(), basePath, metricsPort: 0, requestsPerMinute: 10_000, networks };
  const privateKeys = privateKey === undefined ? [] : [privateKey];
  const operator = await startService({ program: "operator", name, config, privateKeys, folder });
  await operator.ready();
  return { ...operator, url: operator.url + basePath };
}
