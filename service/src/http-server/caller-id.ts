import ipaddr from "ipaddr.js";

/** Identifies a caller for rate limits: by IPv4 address, or by IPv6 /64 network, because one party owns all of it. */
export function callerIdOf(address: string): string {
  if (!address.includes(":") || !ipaddr.IPv6.isValid(address)) return address;
  const parsed = ipaddr.IPv6.parse(address);
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(":")}::/64`;
}
