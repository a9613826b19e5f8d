import { BlockList, type IPVersion, isIP } from "node:net";
import { FormatRegistry, type StringOptions, Type } from "@sinclair/typebox";

/** What a setting that is none of it is told to be. */
const FORMAT = "IP address or CIDR range";

FormatRegistry.Set(FORMAT, (text) => parseRange(text) !== null);

/** The schema of a setting that lists IP addresses and CIDR ranges. */
export const AddressRanges = (options: Pick<StringOptions, "description">) =>
  Type.Array(Type.String({ format: FORMAT }), { default: [], ...options });

/** The most addresses of which it is remembered whether they are in some ranges: the same few callers ask all the time. */
const MAX_REMEMBERED = 1_000;

/** @returns Whether an IP address is in one of the ranges. An IPv4 address may be written as one of IPv6. */
export function inRanges(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const parsed = parseRange(range);
    if (parsed === null) throw new Error(`"${range}" is not an ${FORMAT}.`);
    list.addSubnet(parsed.address, parsed.prefix, parsed.family);
  }
  const remembered = new Map<string, boolean>();
  return (address) => {
    const before = remembered.get(address);
    if (before !== undefined) return before;
    if (isIP(address) === 0) return false;
    const isIn = list.check(address, family(address));
    if (remembered.size === MAX_REMEMBERED) remembered.clear();
    remembered.set(address, isIn);
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
