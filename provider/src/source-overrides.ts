import { ConfigError } from "@dataset-oracle/service/config";
import { parseHttpsUrl } from "@dataset-oracle/service/egress/https-url";
import type { SourceRequest } from "./source/reader.js";

/** For development: the https origins of sources, and the loopback addresses that are asked instead of them. */
export type SourceOverrides = Readonly<Record<string, string>>;

/**
 * Checks overrides.
 *
 * @param known The origins of all sources; "any" when strangers' specs may name any.
 * @throws ConfigError when one leads anywhere but to this machine, is of no source, or when the provider serves the
 * main network, whose prices must be real.
 */
export function checkOverrides(
  overrides: SourceOverrides,
  known: readonly string[] | "any",
  chainIds: readonly number[],
): void {
  const origins = Object.keys(overrides);
  if (origins.length > 0 && chainIds.includes(1)) {
    throw new ConfigError("sourceOverrides are for development, and network 1 is served. Remove one of the two.");
  }
  for (const origin of origins) {
    if (known === "any" ? !parseHttpsUrl(origin).ok || origin.endsWith("/") : !known.includes(origin)) {
      const those =
        known === "any" ? "It must be https:// and a host name" : `There are: ${[...new Set(known)].join(", ")}`;
      throw new ConfigError(`sourceOverrides: no source is at ${origin}. ${those}.`);
    }
    if (!isLoopback(overrides[origin] ?? "")) {
      throw new ConfigError(
        `sourceOverrides: ${overrides[origin]} is not allowed for ${origin}. ` +
          "It must be a http address on this machine, such as http://127.0.0.1:9000/kraken, without a slash at its end.",
      );
    }
  }
}

/** A literal loopback address: a name could be made to mean another machine. */
function isLoopback(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  const isPlain = username + password + search + hash === "" && !/[?#/]$/.test(text);
  return protocol === "http:" && isPlain && (/^127(?:\.\d{1,3}){3}$/.test(hostname) || hostname === "[::1]");
}

/** The request; an origin that is overridden is not asked, so that its rate limit does not hold. */
export function withOverride(overrides: SourceOverrides, request: SourceRequest): SourceRequest {
  return Object.hasOwn(overrides, new URL(request.url).origin) ? { ...request, rateLimit: null } : request;
}
