import { Resolver } from "node:dns/promises";
import { readFileSync } from "node:fs";

/** Resolves a host name to all of its addresses; rejects when there are none. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

const ATTEMPT_MS = 1_500;

/** Names the name servers of this machine. */
const RESOLV_CONF = "/etc/resolv.conf";

const openResolver = () => new Resolver({ timeout: ATTEMPT_MS, tries: 2 });

/**
 * Resolves with the name servers of this machine, IPv4 addresses first. The hosts file and search domains are not used,
 * because they contain names of the local network.
 *
 * @param file The file that names the name servers.
 * @param open Opens a resolver that asks these name servers.
 */
export function resolveByDns(
  file = RESOLV_CONF,
  open: () => Pick<Resolver, "resolve4" | "resolve6"> = openResolver,
): ResolveHost {
  let named = textOf(file);
  let resolver = open();
  return async (host) => {
    const text = textOf(file);
    // A resolver reads the file once. It is kept while the file stays the same, because it knows which servers answer.
    if (text !== null && text !== named) {
      named = text;
      resolver = open();
    }
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = [v4, v6].flatMap((result) => (result.status === "fulfilled" ? result.value : []));
    if (addresses.length === 0 && v4.status === "rejected") throw v4.reason;
    return addresses;
  };
}

/** Returns the text of a file; null while it is missing, as when it is being replaced. */
function textOf(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}
