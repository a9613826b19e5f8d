import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { PROVIDERS, SUBMITTERS } from "./accounts.js";
import type { DataFolder } from "./data-folder.js";
import { findDataset } from "./deploy.js";
import type { DevnetContext } from "./devnet-context.js";
import { marketRedirects } from "./exchange-origins.js";
import { type Service, type ServicePlace, startOperator, startProvider } from "./network-services.js";
import { TURNS } from "./options.js";
import type { ServiceProcess } from "./service-process.js";
import { WEATHER_ORIGIN } from "./simulated-market/weather-api.js";
import { respondsOk, startProcess } from "./start-process.js";

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
export function startProviders(devnet: DevnetContext): Promise<Service[]> {
  const { options, folder } = devnet;
  const place = placeOf(devnet);
  return Promise.all(
    PROVIDERS.map((account, index) => {
      const name = `provider-${index + 1}`;
      return startProvider(
        place,
        account,
        { name },
        {
          port: options.providerPort + index,
          redirectedOrigins: { ...(options.isLive ? {} : simulatedOrigins(devnet)), ...options.redirects },
          evidence: { folder: folder.file("state", `${name}-evidence`), maxMegabytes: 100 },
          operatorRequestsPerMinute: 100_000,
        },
      );
    }),
  );
}

/** Starts the operator, or one beside each of the first providers. If one exits, the devnet keeps running. */
export function startOperators(devnet: DevnetContext): Promise<Service[]> {
  const { options, operatorUrls } = devnet;
  const names = options.operators === null ? ["operator"] : operatorUrls.map((_, index) => `operator-${index + 1}`);
  const place = placeOf(devnet);
  return Promise.all(
    names.map((name, index) =>
      startOperator(place, [SUBMITTERS[index] ?? SUBMITTERS[0]], { name }, networkOf(devnet, index), {
        port: options.operatorPort + index,
        requestsPerMinute: 100_000,
        broadcastsPerMinute: 100_000,
        newKeysPerMinute: 100_000,
        // All callers share this machine's address.
        maxConnectionsPerCaller: 1_000,
      }),
    ),
  );
}

/** Returns the settings of an operator's network. */
function networkOf(devnet: DevnetContext, index: number) {
  const { options, providerUrls } = devnet;
  return {
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
  };
}

function placeOf({ folder: { file }, chainUrl, components }: DevnetContext): ServicePlace {
  return {
    chainUrl,
    folder: { config: file("config"), keys: file("keys"), logs: file("logs") },
    deployment: "../deployments/42.json",
    state: file("state"),
    own: (service) => components.add(service, () => sayHowToRestart(service)),
  };
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
