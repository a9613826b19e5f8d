import { BlockList, type IPVersion, isIP } from "node:net";
import { FormatRegistry, type StringOptions, Type } from "@sinclair/typebox";
import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";

/** The name of the format, as errors show it. */
const FORMAT = "IP address or CIDR range";

FormatRegistry.Set(FORMAT, (text) => parseRange(text) !== null);

/** The schema of a setting that lists IP addresses and CIDR ranges. */
export const AddressRanges = (options: Pick<StringOptions, "description">) =>
  Type.Array(Type.String({ format: FORMAT }), { default: [], ...options });

/** The number of results kept for each list of ranges. The same few callers come again and again. */
const MAX_RESULTS = 1_000;

/** Makes a function that tells whether an IP address is in one of the ranges. An IPv4 address may be mapped to IPv6. */
export function inRanges(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const parsed = parseRange(range);
    if (parsed === null) throw new Error(`"${range}" is not an ${FORMAT}.`);
    list.addSubnet(parsed.address, parsed.prefix, parsed.family);
  }
  const results = new LRUCache<string, boolean>({ max: MAX_RESULTS });
  return (address) => {
    const known = results.get(address);
    if (known !== undefined) return known;
    if (isIP(address) === 0) return false;
    const isIn = list.check(address, family(address));
    results.set(address, isIn);
    return isIn;
  };
}

function parseRange(text: string) {
  const [address = "", prefix, ...more] = text.split("/");
  if (isIP(address) === 0 || address.includes("%") || more.length > 0) return null;
  const bits = isIP(address) === 4 ? 32 : 128;
  if (prefix === undefined) return { address, prefix: bits, family: family(address) };
  if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > bits) return null;
  return { address, prefix: Number(prefix), family: family(address) };
}

const family = (address: string): IPVersion => (isIP(address) === 4 ? "ipv4" : "ipv6");

/** Tells whether an address is of this machine, or of a private network. */
export function isLocalAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  return ["loopback", "private", "uniqueLocal", "linkLocal"].includes(ipaddr.process(address).range());
}

/** Identifies a caller for rate limits: by IPv4 address, or by IPv6 /64 network, because one party owns all of it. */
export function callerIdOf(address: string): string {
  if (!address.includes(":") || !ipaddr.IPv6.isValid(address)) return address;
  const parsed = ipaddr.IPv6.parse(address);
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(":")}::/64`;
}

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
