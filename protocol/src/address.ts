import { type Address, getAddress } from "viem";
import { err, ok, type Result } from "./result.js";

/** How addresses are spelled elsewhere, and what to do about it. */
const FOREIGN: readonly (readonly [form: RegExp, what: string])[] = [
  [/^[0-9a-fA-F]{40}$/, 'an address without its beginning. Write "0x" in front of it'],
  [/^xdc[0-9a-fA-F]{40}$/i, 'an address as XDC spells it. Write "0x" in place of "xdc"'],
  [
    /^[a-z0-9-]+:0x[0-9a-fA-F]{40}$/i,
    "an address with the short name of a chain (ERC-3770). Leave that and the colon out",
  ],
  [/^[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]+$/i, "a name. Look its address up, and write that"],
  [/^XE[0-9]{2}[0-9A-Z]{30,31}$/i, "an address in ICAP form. Write it in hex"],
  [
    /^[a-z0-9]+1[ac-hj-np-z02-9]{38,}$/,
    "an address in Bech32, as Cosmos, Harmony and Bitcoin spell it. Write it in hex",
  ],
  [/^T[1-9A-HJ-NP-Za-km-z]{33}$/, "an address as TRON spells it. Write it in hex"],
];

/**
 * Parses an Ethereum address in lower case, in upper case, or in mixed case with a valid EIP-55 checksum.
 *
 * @returns The address with its checksum.
 */
export function parseAddress(text: string): Result<Address> {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) {
    const [, what] = FOREIGN.find(([form]) => form.test(text)) ?? [];
    return err(what === undefined ? 'This is not an address. Write "0x" and 40 hex digits.' : `This is ${what}.`);
  }
  const digits = text.slice(2);
  const checksummed = getAddress(text.toLowerCase() as Address);
  const isOneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase();
  if (!isOneCase && text !== checksummed) {
    const isOfRootstock = [30, 31].some((chainId) => text === getAddress(text.toLowerCase() as Address, chainId));
    if (isOfRootstock) return err(`The address has the checksum of Rootstock (EIP-1191). Write ${checksummed}.`);
    return err(`The address has a wrong checksum. If its digits are right, write ${text.toLowerCase()}.`);
  }
  return ok(checksummed);
}
