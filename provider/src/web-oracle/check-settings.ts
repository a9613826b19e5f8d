import { ConfigError } from "@dataset-oracle/service/config/config-error";
import type { Deployment } from "@dataset-oracle/service/config/deployment";
import { expandRpcEndpoint, type RpcEndpoint } from "@dataset-oracle/service/config/rpc-endpoint";
import { parseHttpsUrl } from "@dataset-oracle/service/untrusted/https-url";
import type { RateLimit } from "../callers/rate-limit.js";
import type { WebOracleSettings } from "../config.js";
import type { SpotSource } from "../source/spot-source.js";
import type { SpecRegistrySettings } from "./spec-finder.js";

/**
 * Reports whether published specs may query a host. "any" leaves out the hosts of source files: their exchanges could
 * refuse the provider's address, for prices too, because of what strangers ask.
 */
export const isHostAllowed = (
  host: string,
  { hosts, sourceHosts }: Pick<CheckedWebOracleSettings, "hosts" | "sourceHosts">,
): boolean => (hosts === "any" ? !sourceHosts.includes(host) : hosts.includes(host));

/** @throws ConfigError when one of the hosts is not written as a host name. */
function checkHosts(hosts: WebOracleSettings["hosts"], at: string): void {
  for (const host of hosts === "any" ? [] : hosts) {
    const url = parseHttpsUrl(`https://${host}`);
    if (url.ok && url.value.host === host) continue;
    throw new ConfigError(`${at}: "${host}" is not a host name. Write it in lower case and without a port.`);
  }
}

/** The Web Oracle's checked settings. */
export interface CheckedWebOracleSettings extends Readonly<Pick<WebOracleSettings, "folder" | "hosts">> {
  readonly registries: readonly SpecRegistrySettings[];
  /** The hosts that source files query. */
  readonly sourceHosts: readonly string[];
  /** Returns the rate limit of an origin. */
  readonly rateLimitOf: (origin: string) => RateLimit;
}

/**
 * Checks the settings against the deployments, without connecting to anything.
 *
 * @returns Null without settings, in which case the Web Oracle's datasets are not served.
 * @throws ConfigError
 */
export function checkWebOracleSettings(
  settings: WebOracleSettings | undefined,
  deployments: readonly Deployment[],
  sources: readonly Pick<SpotSource, "origin" | "rateLimit">[],
  env: NodeJS.ProcessEnv,
): CheckedWebOracleSettings | null {
  if (settings === undefined) return null;
  const { rpcUrls, folder, hosts, rateLimit } = settings;
  checkHosts(hosts, "webOracle/hosts");
  const networks = deployments.filter(({ datasets }) => datasets.some(({ keyForm }) => keyForm === "WEB_ORACLE"));
  const ids = networks.map(({ chainId }) => String(chainId));
  const other = Object.keys(rpcUrls).find((id) => !ids.includes(id));
  if (other !== undefined) {
    throw new ConfigError(
      `webOracle/rpcUrls: no deployment has Web Oracle datasets on network ${other}. Remove the endpoint.`,
    );
  }
  // An exchange has one rate limit for its spot prices and for published specs together.
  const rateLimitOf = (origin: string) => sources.find((source) => source.origin === origin)?.rateLimit ?? rateLimit;
  const registries = networks.map((network) => checkRegistry(network, rpcUrls, env));
  const sourceHosts = sources.map(({ origin }) => new URL(origin).host);
  return { registries, folder, hosts, sourceHosts, rateLimitOf };
}

function checkRegistry(
  { chainId, webOracleRegistry }: Deployment,
  rpcUrls: Readonly<Record<string, RpcEndpoint>>,
  env: NodeJS.ProcessEnv,
): SpecRegistrySettings {
  if (webOracleRegistry === undefined) {
    throw new ConfigError(
      `The deployment of network ${chainId} has Web Oracle datasets but no webOracleRegistry. Add it.`,
    );
  }
  const template = rpcUrls[String(chainId)];
  if (template === undefined) {
    throw new ConfigError(`webOracle/rpcUrls: network ${chainId} has Web Oracle datasets but no endpoint. Add one.`);
  }
  const rpcUrl = expandRpcEndpoint(template, `webOracle/rpcUrls/${chainId}`, env);
  return { chainId, address: webOracleRegistry, rpcUrl };
}
