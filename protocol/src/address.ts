import { type Address, getAddress } from "viem";
import { err, ok, type Result } from "./result.js";

/**
 * Parses an Ethereum address in lower case, in upper case, or in mixed case with a valid EIP-55 checksum.
 *
 * @returns The address with its checksum.
 */
export function parseAddress(text: string): Result<Address> {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) {
    return err('This is not an address. Write "0x" and 40 hex digits.');
  }
  const digits = text.slice(2);
  const checksummed = getAddress(text.toLowerCase() as Address);
  const isOneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase();
  if (!isOneCase && text !== checksummed) {
    return err(`The address has a wrong checksum. If its digits are right, write ${text.toLowerCase()}.`);
  }
  return ok(checksummed);
}
