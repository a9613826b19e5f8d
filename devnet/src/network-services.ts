import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Address, Hex } from "viem";
import { freePort } from "./free-ports.js";
import { type ServiceOptions, type ServiceProcess, startService } from "./service-process.js";

/** Settings of a configuration file. */
export type Settings = Readonly<Record<string, unknown>>;

/** What the services of one network have in common. */
export interface ServicePlace {
  readonly chainUrl: string;
  readonly folder: ServiceOptions["folder"];
  /** The deployment file, by its path from the configurations; an operator's network can name its datasets instead. */
  readonly deployment?: string;
  /** The folder of what the providers keep. */
  readonly state: string;
  readonly build?: string;
  /** Takes a service over as soon as it is started, to close it at the end. */
  own(service: ServiceProcess): void;
}

type ServiceProcessOptions = Pick<ServiceOptions, "name" | "env" | "readyPath">;

/** A provider or operator that runs. */
export interface Service extends ServiceProcess {
  /** The account with which a provider signs, or from which an operator first sends. */
  readonly address: Address;
  /** Reads what it has logged. */
  log(): string;
}

interface Keys {
  readonly address: Address;
  readonly privateKey: Hex;
}

/** The Web Oracle settings of a provider. */
export const webOracleSettings = ({ chainUrl, state }: ServicePlace, name: string): Settings => ({
  rpcUrls: { 42: chainUrl },
  folder: join(state, `${name}-specs`),
  // Addresses that are not public are still rejected.
  hosts: "any",
  rateLimit: { perSecond: 1_000, burst: 1_000 },
});

/** Starts a provider, with the default limits unless the settings say otherwise, and waits until it is ready. */
export function startProvider(
  place: ServicePlace,
  account: Keys,
  options: ServiceProcessOptions,
  settings: Settings = {},
): Promise<Service> {
  const config = {
    metricsPort: 0,
    lease: join(place.state, `${options.name}-lease`),
    deployments: [place.deployment],
    webOracle: webOracleSettings(place, options.name),
    operators: ["127.0.0.1"],
    ...settings,
  };
  return start(place, [account], { program: "provider", ...options }, config);
}

/**
 * Starts an operator of the network, with the default limits unless the settings say otherwise, and waits until it is
 * ready.
 *
 * @param network Settings of its network.
 */
export function startOperator(
  place: ServicePlace,
  accounts: readonly [Keys, ...Keys[]],
  options: ServiceProcessOptions,
  network: Settings,
  settings: Settings = {},
): Promise<Service> {
  const own = { deployment: place.deployment, rpcUrls: [place.chainUrl], ...network };
  return start(place, accounts, { program: "operator", ...options }, { metricsPort: 0, ...settings, networks: [own] });
}

async function start(
  { folder, build, own }: ServicePlace,
  accounts: readonly [Keys, ...Keys[]],
  options: ServiceProcessOptions & Pick<ServiceOptions, "program">,
  settings: Settings,
): Promise<Service> {
  const config = { port: await freePort(), ...settings };
  const privateKeys = accounts.map(({ privateKey }) => privateKey);
  const service = await startService({
    ...options,
    config,
    privateKeys,
    folder,
    ...(build !== undefined && { build }),
  });
  own(service);
  await service.ready();
  return { ...service, address: accounts[0].address, log: () => readFileSync(service.logFile, "utf8") };
}
