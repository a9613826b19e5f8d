import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/foundry";
import { findDataset } from "./deploy.js";
import type { Folder } from "./folder.js";
import { marketOverrides } from "./market/pairs.js";
import { WEATHER_ORIGIN } from "./market/weather.js";
import { answersOk, type Process, startProcess } from "./processes.js";
import { OPERATOR, PROVIDERS, type Role } from "./roles.js";
import type { Settings } from "./settings.js";

/** A running provider. */
export interface Provider {
  readonly process: Process;
  readonly address: string;
  readonly url: string;
  /** The command that starts it again after somebody ended it. */
  readonly command: string;
}

/** Starts the market that stands in for the exchanges. */
export function startMarket(settings: Settings, folder: Folder): Promise<Process> {
  return startProcess({
    name: "market",
    command: process.execPath,
    args: [built("devnet", "market/main.js"), "--port", String(settings.marketPort), "--seed", "42"],
    logFile: folder.file("logs", "market.log"),
    isReady: () => answersOk(marketUrl(settings)),
  });
}

/** Starts the data providers, each with its own key and configuration. */
export function startProviders(settings: Settings, chainUrl: string, folder: Folder): Promise<Provider[]> {
  return Promise.all(PROVIDERS.map((role, index) => startProvider(role, index, settings, chainUrl, folder)));
}

async function startProvider(
  role: Role,
  index: number,
  settings: Settings,
  chainUrl: string,
  folder: Folder,
): Promise<Provider> {
  const name = `provider-${index + 1}`;
  const url = providerUrl(settings, index);
  const config = writeConfig(folder, name, {
    port: settings.providerPort + index,
    metricsPort: 0,
    database: folder.file("state", name),
    deployments: ["../deployments/42.json"],
    sourceOverrides: settings.isLive ? {} : sourceOverrides(settings),
    webOracle: {
      rpcUrls: { 42: chainUrl },
      folder: folder.file("state", `${name}-specs`),
      // For developers to try their own specs: the guard against addresses that are not public stays.
      hosts: "any",
      rateLimit: { perSecond: 100, burst: 200 },
    },
    operators: ["127.0.0.1"],
    operatorRequestsPerMinute: 100_000,
  });
  const keyFile = writeKey(folder, name, role);
  const args = [built("provider", "main.js"), "--config", config];
  const child = await startProcess({
    name,
    command: process.execPath,
    args,
    env: { PROVIDER_PRIVATE_KEY_FILE: keyFile },
    logFile: folder.file("logs", `${name}.log`),
    isReady: () => answersOk(`${url}/ready`),
  });
  const command = `PROVIDER_PRIVATE_KEY_FILE=${shellQuote(keyFile)} node ${args.map(shellQuote).join(" ")}`;
  return { process: child, address: role.address, url, command };
}

/** Starts the operator. It is ready when it answers for everything that it serves. */
export function startOperator(settings: Settings, chainUrl: string, folder: Folder): Promise<Process> {
  const config = writeConfig(folder, "operator", {
    port: settings.operatorPort,
    metricsPort: 0,
    requestsPerMinute: 100_000,
    broadcastsPerMinute: 100_000,
    networks: [
      {
        deployment: "../deployments/42.json",
        rpcUrls: [chainUrl],
        providers: PROVIDERS.map(({ address }, index) => ({ address, url: providerUrl(settings, index) })),
        // The devnet's Ether is worth nothing: nothing is to stop somebody who tries things out.
        gasPerHour: 1_000_000_000_000,
        gasPerHourForNewKeys: 1_000_000_000_000,
        gasPerHourForFeeds: 1_000_000_000_000,
        feeds: settings.hasFeeds ? [spotPriceFeed(folder)] : [],
        feedPollMs: 5_000,
      },
    ],
  });
  return startProcess({
    name: "operator",
    command: process.execPath,
    args: [built("operator", "main.js"), "--config", config],
    env: { OPERATOR_PRIVATE_KEY_FILE: writeKey(folder, "operator", OPERATOR) },
    logFile: folder.file("logs", "operator.log"),
    isReady: () => answersOk(`${operatorUrl(settings)}/datasets`),
  });
}

/** All spot prices, often enough to see them move. */
function spotPriceFeed(folder: Folder) {
  const { address, keys } = findDataset(folder, "financial");
  return { dataset: address, keys, heartbeatSeconds: 30, deviationBps: 50, minIntervalSeconds: 10 };
}

export const operatorUrl = ({ operatorPort }: Settings) => `http://127.0.0.1:${operatorPort}`;

const providerUrl = ({ providerPort }: Settings, index: number) => `http://127.0.0.1:${providerPort + index}`;

const marketUrl = ({ marketPort }: Settings) => `http://127.0.0.1:${marketPort}`;

function sourceOverrides(settings: Settings): Record<string, string> {
  const url = marketUrl(settings);
  return { ...marketOverrides(url), [WEATHER_ORIGIN]: `${url}/weather` };
}

const built = (room: string, file: string) => join(ROOT, room, "dist", file);

function writeConfig(folder: Folder, name: string, config: object): string {
  const path = folder.file("config", `${name}.json`);
  writeFileSync(path, `${JSON.stringify(config, null, 2)}\n`);
  return path;
}

function writeKey(folder: Folder, name: string, role: Role): string {
  const path = folder.file("keys", name);
  writeFileSync(path, `${role.privateKey}\n`, { mode: 0o600 });
  return path;
}

const shellQuote = (text: string) => (/^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
