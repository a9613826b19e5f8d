import { Resolver } from "node:dns/promises";

/** Resolves a host name to all of its addresses; rejects when there are none. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

const ATTEMPT_MS = 1_500;

/**
 * Resolves with the name servers of this machine, IPv4 addresses first. The hosts file and search domains are not used,
 * because they contain names of the local network.
 */
export function resolveByDns(): ResolveHost {
  const resolver = new Resolver({ timeout: ATTEMPT_MS, tries: 2 });
  return async (host) => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = [v4, v6].flatMap((result) => (result.status === "fulfilled" ? result.value : []));
    if (addresses.length === 0 && v4.status === "rejected") throw v4.reason;
    return addresses;
  };
}
