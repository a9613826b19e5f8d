import ipaddr from "ipaddr.js";

/** The only IPv6 addresses that are assigned for public use. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR("2000::/3");

/** IPv4 addresses as machines without IPv4 reach them: name servers put this prefix before them (RFC 6052). */
const NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

/**
 * Returns true if an address is public unicast. An IPv6 address that embeds an IPv4 address is so only under the
 * well-known prefix of NAT64, and if that IPv4 address is; mapped ones, 6to4, Teredo and local prefixes never are.
 */
export function isPublicUnicast(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  // Octal, hexadecimal and short forms are refused, because parsers disagree about them.
  if (address instanceof ipaddr.IPv4) return ipaddr.IPv4.isValidFourPartDecimal(text) && address.range() === "unicast";
  if (address.match(NAT64)) return new ipaddr.IPv4(address.toByteArray().slice(12)).range() === "unicast";
  return address.range() === "unicast" && address.match(GLOBAL_IPV6);
}
