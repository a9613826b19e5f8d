import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { parseHttpsUrl } from "@dataset-oracle/service/egress/https-url";
import type { SourceRequest } from "./reader.js";

/** For development: the https origins of sources, with the loopback addresses that are asked instead. */
export type SourceOverrides = Readonly<Record<string, string>>;

/**
 * Checks overrides.
 *
 * @param known The origins of all sources; "any" when published specs may ask any host.
 * @throws ConfigError when one leads to another machine or belongs to no source, or when the provider serves the main
 * network, whose prices must be real.
 */
export function checkOverrides(
  overrides: SourceOverrides,
  known: readonly string[] | "any",
  chainIds: readonly number[],
): void {
  const origins = Object.keys(overrides);
  if (origins.length > 0 && chainIds.includes(1)) {
    throw new ConfigError("sourceOverrides are for development only, but network 1 is served. Remove one of the two.");
  }
  for (const origin of origins) {
    if (known === "any" ? !parseHttpsUrl(origin).ok || origin.endsWith("/") : !known.includes(origin)) {
      const hint =
        known === "any"
          ? "An origin is https:// and a host name"
          : `The origins are: ${[...new Set(known)].join(", ")}`;
      throw new ConfigError(`sourceOverrides: no source has the origin ${origin}. ${hint}.`);
    }
    if (!isLoopback(overrides[origin] ?? "")) {
      throw new ConfigError(
        `sourceOverrides: ${overrides[origin]} is not allowed for ${origin}. ` +
          "Use an http address on this machine without a slash at the end, such as http://127.0.0.1:9000/kraken.",
      );
    }
  }
}

/** Accepts only literal loopback addresses, because a name could resolve to another machine. */
function isLoopback(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  const isPlain = username + password + search + hash === "" && !/[?#/]$/.test(text);
  return protocol === "http:" && isPlain && (/^127(?:\.\d{1,3}){3}$/.test(hostname) || hostname === "[::1]");
}

/** Removes the rate limit from a request whose origin is overridden, because the origin itself is not asked. */
export function withOverride<R extends SourceRequest>(overrides: SourceOverrides, request: R): R {
  return Object.hasOwn(overrides, new URL(request.url).origin) ? { ...request, rateLimit: null } : request;
}
