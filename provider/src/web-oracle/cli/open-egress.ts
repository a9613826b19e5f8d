import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { Egress } from "@dataset-oracle/service/egress/egress";
import { Secrets } from "@dataset-oracle/service/egress/secrets";
import { loadProviderConfig } from "../../config.js";
import { checkRedirectedOrigins } from "../../source/check-redirected-origins.js";
import { isHostAllowed } from "../allowed-hosts.js";
import type { CompiledRequest } from "../compile-spec.js";
import type { CliCommand } from "./arguments.js";

/**
 * Opens the connections of a command that asks sources.
 *
 * @throws ConfigError when a setting must be fixed, or the provider does not ask a host of the spec.
 */
export function openEgress({ hosts }: CompiledRequest, { config: file, override = [] }: CliCommand["options"]): Egress {
  const config = file === undefined ? null : loadProviderConfig(file);
  const overrides = override.map(splitOverride);
  const origins = hosts.map((host) => `https://${host}`);
  const [unasked] = overrides.find(([origin]) => !origins.includes(origin)) ?? [];
  if (unasked !== undefined)
    throw new ConfigError(`--override: the spec does not query "${unasked}". It queries: ${origins.join(", ")}.`);
  const redirectedOrigins = { ...config?.redirectedOrigins, ...Object.fromEntries(overrides) };
  checkRedirectedOrigins(redirectedOrigins, "any", []);
  const allowed = config?.webOracle?.hosts ?? (config === null ? "any" : []);
  const forbidden = hosts.find((host) => !isHostAllowed(host, allowed));
  if (forbidden !== undefined) throw new ConfigError(`${forbidden} is not in webOracle/hosts of ${file}. Add it.`);
  return new Egress({ redirectedOrigins, secrets: Secrets.load(config?.secrets ?? [], process.env) });
}

function splitOverride(text: string): [origin: string, target: string] {
  const [origin = "", ...target] = text.split("=");
  return [origin, target.join("=")];
}
