import { accessSync, constants, existsSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { loadDeployment } from "@dataset-oracle/service/config/deployment";
import { type AccountOwner, loadAccount } from "@dataset-oracle/service/keys/find-accounts";
import { Secrets } from "@dataset-oracle/service/untrusted/secrets";
import type { LocalAccount } from "viem";
import { loadProviderConfig, type ProviderConfig } from "./config.js";
import { checkLeaseFolder, unusableFolder } from "./decisions/lease.js";
import { findServedDatasets, requireKeys, type Served } from "./keys/served-keys.js";
import { loadSources, SHIPPED_SOURCES } from "./source/load-sources.js";
import { type CheckedWebOracleSettings, checkWebOracleSettings } from "./web-oracle/check-settings.js";

export const PROVIDER: AccountOwner = { name: "PROVIDER", signs: "anything" };

/** Everything that a provider needs to start, loaded and checked. */
export interface Setup {
  readonly config: ProviderConfig;
  readonly served: Served;
  /** Null when the Web Oracle's datasets are not served. */
  readonly webOracle: CheckedWebOracleSettings | null;
  readonly secrets: Secrets;
  readonly account: LocalAccount;
}

/**
 * Loads the configuration and all that it names, and the key from the environment. It takes no lease and connects to
 * nothing.
 *
 * @returns The setup, and the warnings for the owner.
 * @throws ConfigError
 */
export async function loadSetup(
  configFile: string,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly setup: Setup; readonly warnings: readonly string[] }> {
  const config = loadProviderConfig(configFile);
  const deployments = config.deployments.map(loadDeployment);
  const { redirectedOrigins } = config;
  const sources = loadSources([SHIPPED_SOURCES, ...config.sources], config.excludedSources, redirectedOrigins);
  const webOracle = checkWebOracleSettings(config.webOracle, deployments, sources, env);
  const secrets = Secrets.load(config.secrets, env);
  const chainIds = deployments.map(({ chainId }) => chainId);
  checkRedirectedOrigins(Object.keys(redirectedOrigins), sources, webOracle, chainIds);
  const served = findServedDatasets(deployments, sources, config.minSources);
  requireKeys(served, config.minSources, webOracle !== null);
  const { account, warnings } = await loadAccount(env, PROVIDER);
  return { setup: { config, served, webOracle, secrets, account }, warnings };
}

/**
 * Checks the origins that are redirected for development.
 *
 * @throws ConfigError when one belongs to no source, or the provider serves a network that is not for development.
 */
export function checkRedirectedOrigins(
  redirected: readonly string[],
  sources: readonly { readonly origin: string }[],
  webOracle: Pick<CheckedWebOracleSettings, "hosts"> | null,
  chainIds: readonly number[],
): void {
  // The networks of development chains: the devnet's, and the defaults of geth, Hardhat and Anvil.
  const real = chainIds.find((chainId) => ![42, 1337, 31337].includes(chainId));
  if (redirected.length > 0 && real !== undefined)
    throw new ConfigError(
      `redirectedOrigins are for development only, but network ${real} is served. Remove one of the two.`,
    );
  if (webOracle?.hosts === "any") return;
  const hosts = (webOracle?.hosts ?? []).map((host) => `https://${host}`);
  const known = new Set([...sources.map(({ origin }) => origin), ...hosts]);
  const unknown = redirected.find((origin) => !known.has(origin));
  if (unknown !== undefined)
    throw new ConfigError(
      `redirectedOrigins: ${unknown} is not the https origin of a source. The origins are: ${[...known].join(", ")}.`,
    );
}

/** @throws ConfigError when the lease, evidence or published specs could not be stored where the configuration says. */
export function checkFolders({ lease, evidence, webOracle }: ProviderConfig): void {
  checkLeaseFolder(lease);
  if (evidence !== null) checkFolder("evidence", evidence.folder);
  if (webOracle !== undefined) checkFolder("webOracle/folder", webOracle.folder);
}

/** Checks that files could be stored in a folder, which a setting names, without creating it. */
function checkFolder(setting: string, folder: string): void {
  let existing = folder;
  while (!existsSync(existing)) existing = dirname(existing);
  try {
    // The separator at the end makes this fail for a file.
    accessSync(join(existing, sep), constants.W_OK);
  } catch (error) {
    throw unusableFolder(setting, folder, error);
  }
}
