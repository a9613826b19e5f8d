import { ConfigError } from "@dataset-oracle/service/config/config-error";
import type { RedirectedOrigins } from "@dataset-oracle/service/egress/egress";
import { parseHttpsUrl } from "@dataset-oracle/service/egress/https-url";

/**
 * Checks the redirected origins.
 *
 * @param known The origins of all sources; "any" when published specs may ask any host.
 * @throws ConfigError when one leads to another machine or belongs to no source, or when the provider serves the main
 * network, whose prices must be real.
 */
export function checkRedirectedOrigins(
  redirectedOrigins: RedirectedOrigins,
  known: readonly string[] | "any",
  chainIds: readonly number[],
): void {
  const origins = Object.keys(redirectedOrigins);
  if (origins.length > 0 && chainIds.includes(1)) {
    throw new ConfigError(
      "redirectedOrigins are for development only, but network 1 is served. Remove one of the two.",
    );
  }
  for (const origin of origins) {
    if (known === "any" ? !parseHttpsUrl(origin).ok || origin.endsWith("/") : !known.includes(origin)) {
      const hint =
        known === "any"
          ? "Write https:// and a host name, without a slash at the end"
          : `The origins are: ${[...new Set(known)].join(", ")}`;
      throw new ConfigError(`redirectedOrigins: ${origin} is not the https origin of a source. ${hint}.`);
    }
    if (!isLoopback(redirectedOrigins[origin] ?? "")) {
      throw new ConfigError(
        `redirectedOrigins: ${redirectedOrigins[origin]} is not allowed for ${origin}. ` +
          "Use http and a loopback IP address, without a slash at the end, such as http://127.0.0.1:9000.",
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
