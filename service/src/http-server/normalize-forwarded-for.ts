import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** An IPv6 address in brackets, with or without a port; or an IPv4 address with a port. */
const WITH_PORT = /^(?:\[([^\]]+)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/;

/**
 * Reduces an X-Forwarded-For header to plain addresses, because some proxies add ports, brackets or zones, and a caller
 * would count as a new one with each port. An entry that holds no address, such as `unknown`, is left out with
 * everything before it: no trusted proxy vouches for those. The caller is then the proxy that wrote the entry.
 */
export function normalizeForwardedFor(header: string): string {
  const addresses: string[] = [];
  for (const entry of header.split(",").reverse()) {
    const address = plainAddress(entry.trim());
    if (address === null) break;
    addresses.unshift(address);
  }
  return addresses.join(", ");
}

function plainAddress(entry: string): string | null {
  const [, inBrackets, withPort] = WITH_PORT.exec(entry) ?? [];
  const [address = ""] = (inBrackets ?? withPort ?? entry).split("%", 1);
  return isIP(address) === 0 ? null : ipaddr.process(address).toString();
}
