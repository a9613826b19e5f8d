import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { type Account, PROVIDERS, SUBMITTERS } from "./accounts.js";
import type { DataFolder } from "./data-folder.js";
import { findDataset } from "./deploy.js";
import type { DevnetContext } from "./devnet-context.js";
import { marketRedirects } from "./exchange-origins.js";
import { type Process, respondsOk, startProcess } from "./processes.js";
import { WEATHER_ORIGIN } from "./simulated-market/weather-api.js";

/** A running provider, the only operator, or the node of a provider. */
export interface Service {
  readonly process: Process;
  readonly url: string;
  /** The account with which a provider signs, or from which an operator sends. */
  readonly address: string;
  /** The shell command that starts it again. */
  readonly command: string;
}

/** Starts the market that replaces the exchanges. Without it, the providers have no values. */
export async function startMarket({ options, folder, components, marketUrl }: DevnetContext): Promise<void> {
  const market = await startProcess({
    name: "market",
    command: process.execPath,
    args: [built("devnet", "simulated-market/main.js"), "--port", String(options.marketPort), "--seed", "42"],
    logFile: folder.file("logs", "market.log"),
    isReady: () => respondsOk(marketUrl),
  });
  const log = folder.file("logs", "market.log");
  const message = `The simulated market has ended: the providers have no new values. Restart the devnet. Log: ${log}`;
  components.add(market, () => console.log(message));
  await market.ready();
}

/** Starts the data providers, each with its own key and configuration. If one exits, the devnet keeps running. */
export async function startProviders(devnet: DevnetContext): Promise<Service[]> {
  const providers = await Promise.all(PROVIDERS.map((account, index) => spawnProvider(devnet, account, index)));
  for (const { process: child, command } of providers) {
    devnet.components.add(child, () => sayHowToRestart(child, command));
  }
  await Promise.all(providers.map((provider) => provider.process.ready()));
  return providers;
}

function spawnProvider(devnet: DevnetContext, account: Account, index: number): Promise<Service> {
  const { options, folder, chainUrl, providerUrls } = devnet;
  const name = `provider-${index + 1}`;
  const url = providerUrls[index] ?? "";
  const config = {
    port: options.providerPort + index,
    metricsPort: 0,
    database: folder.file("state", name),
    deployments: ["../deployments/42.json"],
    redirectedOrigins: options.isLive ? {} : redirectedOrigins(devnet),
    webOracle: {
      rpcUrls: { 42: chainUrl },
      folder: folder.file("state", `${name}-specs`),
      // Developers may try their own specs. Addresses that are not public are still rejected.
      hosts: "any",
      rateLimit: { perSecond: 100, burst: 200 },
      trials: { hosts: "any", rateLimit: { perSecond: 50, burst: 200 } },
    },
    evidence: { folder: folder.file("state", `${name}-evidence`), maxMegabytes: 100, public: true },
    operators: ["127.0.0.1"],
    operatorRequestsPerMinute: 100_000,
  };
  return spawnService(folder, { program: "provider", name, account, url, readyPath: "/ready", config });
}

/**
 * Starts the operator, or a node beside each of the first providers. If the only operator ends by itself, everything
 * else ends too; if a node does, the others keep running.
 */
export async function startOperators(devnet: DevnetContext): Promise<Service[]> {
  const { options, folder, components, operatorUrls } = devnet;
  const names = options.nodes === null ? ["operator"] : operatorUrls.map((_, index) => `node-${index + 1}`);
  const operators = await Promise.all(names.map((name, index) => spawnOperator(devnet, name, index)));
  for (const { process: child, command } of operators) {
    components.add(child, () => {
      if (options.nodes !== null) return sayHowToRestart(child, command);
      const log = folder.file("logs", "operator.log");
      void components.end(1, `The operator has ended unexpectedly. Stopping everything. See its log: ${log}`);
    });
  }
  await Promise.all(operators.map((operator) => operator.process.ready()));
  return operators;
}

function spawnOperator(devnet: DevnetContext, name: string, index: number): Promise<Service> {
  const { options, folder, chainUrl, operatorUrl, operatorUrls, providerUrls } = devnet;
  const url = operatorUrls[index] ?? operatorUrl;
  const account = SUBMITTERS[index] ?? SUBMITTERS[0];
  const config = {
    port: options.operatorPort + index,
    metricsPort: 0,
    requestsPerMinute: 100_000,
    broadcastsPerMinute: 100_000,
    newKeysPerMinute: 100_000,
    // All callers share this machine's address.
    maxConnectionsPerCaller: 1_000,
    networks: [
      {
        deployment: "../deployments/42.json",
        rpcUrls: [chainUrl],
        simulated: !options.isLive,
        providers: PROVIDERS.map(({ address }, index) => {
          return { name: `Provider ${index + 1}`, address, url: providerUrls[index] };
        }),
        // The devnet's Ether is worthless, so no gas budget should stop experiments.
        gasPerHour: 1_000_000_000_000,
        gasPerHourForNewKeys: 1_000_000_000_000,
        gasPerHourForFeeds: 1_000_000_000_000,
        feeds: options.hasFeeds ? [spotPriceFeed(devnet)] : [],
        feedPollMs: 5_000,
        // Nodes find each other by their announcements, and all run on this machine.
        allowLocalNodes: true,
      },
    ],
  };
  return spawnService(folder, { program: "operator", name, account, url, readyPath: "/datasets", config });
}

interface ServiceOptions {
  readonly program: "provider" | "operator";
  /** The name of its process and of its files. */
  readonly name: string;
  readonly account: Account;
  readonly url: string;
  /** A GET of this path succeeds once it is ready. */
  readonly readyPath: string;
  readonly config: object;
}

async function spawnService(folder: DataFolder, options: ServiceOptions): Promise<Service> {
  const { program, name, account, url, readyPath, config } = options;
  const configFile = folder.file("config", `${name}.json`);
  writeFileSync(configFile, `${JSON.stringify(config, null, 2)}\n`);
  const keyFile = folder.file("keys", name);
  writeFileSync(keyFile, `${account.privateKey}\n`, { mode: 0o600 });
  const variable = program === "provider" ? "PROVIDER_PRIVATE_KEY_FILE" : "OPERATOR_PRIVATE_KEY_FILE";
  const args = [built(program, "main.js"), "--config", configFile];
  const child = await startProcess({
    name,
    command: process.execPath,
    args,
    env: { [variable]: keyFile },
    logFile: folder.file("logs", `${name}.log`),
    isReady: () => respondsOk(url + readyPath),
  });
  const command = `${variable}=${shellQuote(keyFile)} node ${args.map(shellQuote).join(" ")}`;
  return { process: child, url, address: account.address, command };
}

/** Returns a feed of all spot prices, updated often enough to watch them move. */
function spotPriceFeed({ folder, options }: DevnetContext) {
  const { address, keys } = findDataset(folder, "financial");
  const { heartbeatSeconds } = options;
  return { dataset: address, keys, heartbeatSeconds, deviationBps: 50, minIntervalSeconds: 10 };
}

function redirectedOrigins({ marketUrl }: DevnetContext): Record<string, string> {
  return { ...marketRedirects(marketUrl), [WEATHER_ORIGIN]: `${marketUrl}/weather` };
}

/** Returns the path of a provider's key, which is there once the providers have started. */
export const providerKeyFile = (folder: DataFolder, index: number) => folder.file("keys", `provider-${index + 1}`);

const built = (workspace: string, file: string) => join(ROOT, workspace, "dist", file);

function sayHowToRestart({ name }: Process, command: string): void {
  console.log(`${name} has ended. To restart it (and stop it yourself with Ctrl-C later):\n  ${command}`);
}

const shellQuote = (text: string) => (/^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
