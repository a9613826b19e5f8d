import { keccak } from "@dataset-oracle/service/crypto/keccak";
import { type Address, concatHex, type Hex, hexToBytes } from "viem";

/**
 * Ranks addresses for a subject by rendezvous hashing: each comes first equally often, everyone who knows the addresses
 * computes the same order, and when an address is added or removed, only the subjects that it gains or loses move.
 *
 * @param subject Bytes that identify the subject.
 * @returns The addresses, best rank first. The order in which they were given does not matter.
 */
export function rankByRendezvousHash(subject: Hex, addresses: readonly Address[]): readonly Address[] {
  if (addresses.length < 2) return addresses;
  return addresses
    .map((address) => ({ address, weight: keccak(hexToBytes(concatHex([address, subject]))) }))
    .toSorted((a, b) => Buffer.compare(b.weight, a.weight))
    .map(({ address }) => address);
}
