import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { type Account, PROVIDERS, SUBMITTERS } from "./accounts.js";
import type { DataFolder } from "./data-folder.js";
import { findDataset } from "./deploy.js";
import type { DevnetContext } from "./devnet-context.js";
import { marketRedirects } from "./exchange-origins.js";
import { TURNS } from "./options.js";
import { type ServiceOptions, type ServiceProcess, startService } from "./service-process.js";
import { WEATHER_ORIGIN } from "./simulated-market/weather-api.js";
import { respondsOk, startProcess } from "./start-process.js";

/** A running provider or operator. */
export interface Service extends ServiceProcess {
  /** The account with which a provider signs, or from which an operator sends. */
  readonly address: string;
}

/** Starts the market that replaces the exchanges. Without it, the providers have no values. */
export async function startMarket({ options, folder, components, marketUrl }: DevnetContext): Promise<void> {
  const logFile = folder.file("logs", "market.log");
  const market = await startProcess({
    name: "market",
    command: process.execPath,
    args: [join(ROOT, "devnet/dist/simulated-market/main.js"), "--port", String(options.marketPort), "--seed", "42"],
    logFile,
    isReady: () => respondsOk(marketUrl),
  });
  const message = `The simulated market has ended: the providers have no new values. Restart the devnet. Log: ${logFile}`;
  components.add(market, () => console.log(message));
  await market.ready();
}

/** Starts the data providers, each with its own key and configuration. If one exits, the devnet keeps running. */
export async function startProviders(devnet: DevnetContext): Promise<Service[]> {
  const providers = await Promise.all(PROVIDERS.map((account, index) => spawnProvider(devnet, account, index)));
  await Promise.all(providers.map((provider) => provider.ready()));
  return providers;
}

function spawnProvider(devnet: DevnetContext, account: Account, index: number): Promise<Service> {
  const { options, folder, chainUrl } = devnet;
  const name = `provider-${index + 1}`;
  const config = {
    port: options.providerPort + index,
    metricsPort: 0,
    lease: folder.file("state", name),
    deployments: ["../deployments/42.json"],
    redirectedOrigins: { ...(options.isLive ? {} : simulatedOrigins(devnet)), ...options.redirects },
    webOracle: {
      rpcUrls: { 42: chainUrl },
      folder: folder.file("state", `${name}-specs`),
      // Addresses that are not public are still rejected.
      hosts: "any",
      rateLimit: { perSecond: 100, burst: 200 },
    },
    evidence: { folder: folder.file("state", `${name}-evidence`), maxMegabytes: 100 },
    operators: ["127.0.0.1"],
    operatorRequestsPerMinute: 100_000,
  };
  return spawnService(devnet, account, { program: "provider", name, config });
}

/** Starts the operator, or one beside each of the first providers. If one exits, the devnet keeps running. */
export async function startOperators(devnet: DevnetContext): Promise<Service[]> {
  const { options, operatorUrls } = devnet;
  const names = options.operators === null ? ["operator"] : operatorUrls.map((_, index) => `operator-${index + 1}`);
  const operators = await Promise.all(names.map((name, index) => spawnOperator(devnet, name, index)));
  await Promise.all(operators.map((operator) => operator.ready()));
  return operators;
}

function spawnOperator(devnet: DevnetContext, name: string, index: number): Promise<Service> {
  const { options, chainUrl, providerUrls } = devnet;
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
        // Announced providers run on this machine.
        allowLocalProviders: true,
        ...(options.operators !== null && {
          sender: PROVIDERS[index]?.address,
          members: PROVIDERS.slice(0, options.operators).map(({ address }) => address),
          ...TURNS,
        }),
      },
    ],
  };
  return spawnService(devnet, account, { program: "operator", name, config });
}

async function spawnService(
  { folder: { file }, components }: DevnetContext,
  { address, privateKey }: Account,
  options: Omit<ServiceOptions, "privateKeys" | "folder">,
): Promise<Service> {
  const folder = { config: file("config"), keys: file("keys"), logs: file("logs") };
  const service = await startService({ ...options, privateKeys: [privateKey], folder });
  components.add(service, () => sayHowToRestart(service));
  return { ...service, address };
}

/** Updates prices often enough to watch them move. */
const PRICE_FEED_POLICY = { deviationBps: 50, minIntervalSeconds: 10 };

/** Returns a feed of all spot prices. */
function spotPriceFeed({ folder, options }: DevnetContext) {
  const { address, keys } = findDataset(folder, "financial");
  const { heartbeatSeconds } = options;
  return { dataset: address, keys, heartbeatSeconds, ...PRICE_FEED_POLICY };
}

function simulatedOrigins({ marketUrl }: DevnetContext): Record<string, string> {
  return { ...marketRedirects(marketUrl), [WEATHER_ORIGIN]: `${marketUrl}/weather` };
}

/** Returns the path of a provider's key, which is there once the providers have started. */
export const providerKeyFile = (folder: DataFolder, index: number) => folder.file("keys", `provider-${index + 1}.key`);

function sayHowToRestart({ name, command, logFile }: ServiceProcess): void {
  console.log(
    `${name} has ended. Log: ${logFile}\nTo restart it (and stop it yourself with Ctrl-C later):\n  ${command}`,
  );
}
