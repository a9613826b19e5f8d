import { type Hex, keccak256, stringToHex } from "viem";

const hashes = new Map<string, Hex>();

/** The hash of a key of the world, of which there are few. */
export function hashOf(key: string): Hex {
  const hash = hashes.get(key) ?? keccak256(stringToHex(key));
  hashes.set(key, hash);
  return hash;
}
