import { loadDeployment } from "@dataset-oracle/service/config/deployment";
import { Secrets } from "@dataset-oracle/service/egress/secrets";
import { loadAccount } from "@dataset-oracle/service/keys/accounts";
import type { LocalAccount } from "viem";
import { loadProviderConfig, type ProviderConfig } from "./config.js";
import { checkDatabase } from "./decisions/decision-store.js";
import { checkEvidence } from "./evidence/evidence-store.js";
import { datasetsOf, decideServed, requireKeys, type Served } from "./served-keys.js";
import { loadSources, SHIPPED_SOURCES } from "./source/load-sources.js";
import { checkRedirects } from "./source/redirected-origins.js";
import { knownOrigins, planWebOracle, type WebOraclePlan } from "./web-oracle/check-settings.js";

/** Everything that a provider needs to start, loaded and checked. */
export interface Setup {
  readonly config: ProviderConfig;
  readonly served: Served;
  /** Null when the Web Oracle's datasets are not served. */
  readonly webOracle: WebOraclePlan | null;
  readonly secrets: Secrets;
  readonly account: LocalAccount;
}

/**
 * Loads the configuration and all that it names, and the key from the environment. It opens and connects nothing.
 *
 * @returns The setup, and what the owner should be warned of.
 * @throws ConfigError
 */
export async function loadSetup(
  configFile: string,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly setup: Setup; readonly warnings: readonly string[] }> {
  const config = loadProviderConfig(configFile);
  const deployments = config.deployments.map(loadDeployment);
  const sources = loadSources([SHIPPED_SOURCES, ...config.sources], config.excludedSources);
  const webOracle = planWebOracle(config.webOracle, deployments, sources, env);
  const secrets = Secrets.load(config.secrets, env);
  const chainIds = deployments.map(({ chainId }) => chainId);
  checkRedirects(config.redirectedOrigins, knownOrigins(sources, webOracle), chainIds);
  const served = decideServed(deployments, sources, config.minSources, config.redirectedOrigins);
  requireKeys(served, config.minSources, webOracle !== null);
  const { account, warnings } = await loadAccount(env, "PROVIDER");
  return { setup: { config, served, webOracle, secrets, account }, warnings };
}

/** @throws ConfigError when the database or the evidence could not be stored where the configuration says. */
export function checkFolders({ database, evidence }: ProviderConfig): void {
  checkDatabase(database);
  if (evidence !== null) checkEvidence(evidence.folder);
}

/** Describes in one sentence which provider serves how much. */
export function summarize({ served, webOracle, account }: Pick<Setup, "served" | "webOracle" | "account">): string {
  const networks = [...served].map(([chainId, datasets]) => {
    const keys = [...datasets.values()].reduce((sum, dataset) => sum + dataset.keys.size, 0);
    return `network ${chainId}: ${keys} keys of ${datasets.size} datasets`;
  });
  const summary = `Provider ${account.address} serves ${networks.join("; ")}.`;
  if (webOracle === null) return summary;
  const hosts = webOracle.hosts === "any" ? "any public host" : `${webOracle.hosts.length} hosts`;
  return `${summary} It serves all keys of ${webDatasets(served)} Web Oracle datasets that ask ${hosts}.`;
}

/** Lists the circumstances that an owner may not be aware of. */
export function listNotes({ config, served, webOracle }: Pick<Setup, "config" | "served" | "webOracle">): string[] {
  const redirected = Object.entries(config.redirectedOrigins).map(
    ([origin, target]) => `DEVELOPMENT ONLY: ${target} is asked instead of ${origin}. The signed prices are not real.`,
  );
  const unserved = datasetsOf(served)
    .filter(({ unservedKeys }) => unservedKeys.length > 0)
    .map(
      ({ address, chainId, unservedKeys }) =>
        `${address} on network ${chainId}: these keys have too few sources and are not served: ${unservedKeys.join(", ")}.`,
    );
  const isUnservedWeb = webOracle === null && webDatasets(served) > 0;
  const web = isUnservedWeb ? ["The Web Oracle's datasets are not served, because webOracle is not set."] : [];
  const isOpen =
    webOracle?.hosts === "any" ? ['webOracle/hosts is "any": published specs may ask every public host.'] : [];
  return [...redirected, ...unserved, ...web, ...isOpen];
}

const webDatasets = (served: Served) => datasetsOf(served).filter(({ keyForm }) => keyForm === "WEB_ORACLE").length;
