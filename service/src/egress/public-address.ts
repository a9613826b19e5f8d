import ipaddr from "ipaddr.js";

/** What is not set aside for anything: for IPv6, only these addresses are given out at all. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Whether an address is a public unicast one. Those that carry an IPv4 address (mapped, 6to4, NAT64, Teredo) are not,
 * whatever they carry.
 */
export function isPublicUnicast(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  // The parser reads octal, hexadecimal and short forms, which others read differently.
  if (address instanceof ipaddr.IPv4) return ipaddr.IPv4.isValidFourPartDecimal(text) && address.range() === "unicast";
  return address.range() === "unicast" && address.match(GLOBAL_IPV6);
}
