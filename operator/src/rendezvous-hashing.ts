import { keccak } from "@dataset-oracle/service/crypto/keccak";
import { type Address, concatHex, type Hex, hexToBytes } from "viem";

/**
 * Ranks addresses for a subject by rendezvous hashing: each leads as often as any other, all who know them find the same
 * order without talking, and when an address comes or goes, only the subjects that it gets or had move.
 *
 * @param subject The bytes that name what they are ranked for.
 * @returns The addresses, best rank first. The order in which they were given does not matter.
 */
export function rankByRendezvousHash(subject: Hex, addresses: readonly Address[]): readonly Address[] {
  if (addresses.length < 2) return addresses;
  return addresses
    .map((address) => ({ address, weight: keccak(hexToBytes(concatHex([address, subject]))) }))
    .toSorted((a, b) => Buffer.compare(b.weight, a.weight))
    .map(({ address }) => address);
}
