import { accessSync, constants, existsSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { loadDeployment } from "@dataset-oracle/service/config/deployment";
import { Secrets } from "@dataset-oracle/service/egress/secrets";
import { loadAccount } from "@dataset-oracle/service/keys/find-accounts";
import type { LocalAccount } from "viem";
import { loadProviderConfig, type ProviderConfig } from "./config.js";
import { checkLeaseFolder } from "./decisions/lease.js";
import { findServedDatasets, requireKeys, type Served } from "./served-keys.js";
import { checkRedirectedOrigins } from "./source/check-redirected-origins.js";
import { loadSources, SHIPPED_SOURCES } from "./source/load-sources.js";
import { type CheckedWebOracleSettings, checkWebOracleSettings } from "./web-oracle/check-settings.js";

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
  const sources = loadSources([SHIPPED_SOURCES, ...config.sources], config.excludedSources);
  const webOracle = checkWebOracleSettings(config.webOracle, deployments, sources, env);
  const secrets = Secrets.load(config.secrets, env);
  const chainIds = deployments.map(({ chainId }) => chainId);
  checkRedirectedOrigins(config.redirectedOrigins, redirectableOrigins(sources, webOracle), chainIds);
  const served = findServedDatasets(deployments, sources, config.minSources, config.redirectedOrigins);
  requireKeys(served, config.minSources, webOracle !== null);
  const { account, warnings } = await loadAccount(env, "PROVIDER");
  return { setup: { config, served, webOracle, secrets, account }, warnings };
}

/** Returns the origins that may be redirected for development. */
function redirectableOrigins(
  sources: readonly { readonly origin: string }[],
  webOracle: CheckedWebOracleSettings | null,
): readonly string[] | "any" {
  if (webOracle?.hosts === "any") return "any";
  return [...sources.map(({ origin }) => origin), ...(webOracle?.hosts ?? []).map((host) => `https://${host}`)];
}

/** @throws ConfigError when the lease, evidence or published specs could not be stored where the configuration says. */
export function checkFolders({ lease, evidence, webOracle }: ProviderConfig): void {
  checkLeaseFolder(lease);
  if (evidence !== null) checkFolder("evidence", evidence.folder);
  if (webOracle !== undefined) checkFolder("webOracle/folder", webOracle.folder);
}

/**
 * Checks that files could be stored in a folder, without creating it.
 *
 * @param setting The setting that names the folder, for the error.
 * @throws ConfigError
 */
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

export const unusableFolder = (setting: string, folder: string, error: unknown) =>
  new ConfigError(
    `${setting}: ${folder} cannot be used: ${(error as NodeJS.ErrnoException).code}. Check that it is a folder that ` +
      "this process can create and write to.",
  );
