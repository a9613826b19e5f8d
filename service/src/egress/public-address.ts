import ipaddr from "ipaddr.js";

/** The only IPv6 addresses that are assigned for public use. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Returns true if an address is public unicast. An IPv6 address that embeds an IPv4 address (mapped, 6to4, NAT64,
 * Teredo) never is.
 */
export function isPublicUnicast(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  // Octal, hexadecimal and short forms are refused, because parsers disagree about them.
  if (address instanceof ipaddr.IPv4) return ipaddr.IPv4.isValidFourPartDecimal(text) && address.range() === "unicast";
  return address.range() === "unicast" && address.match(GLOBAL_IPV6);
}
