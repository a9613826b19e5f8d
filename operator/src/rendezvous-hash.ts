import { keccak } from "@dataset-oracle/service/keccak";
import { type Address, concatHex, type Hex, hexToBytes } from "viem";

/**
 * Who serves a data point, the first by right and the others in its place, by rendezvous hashing: when an address comes or
 * goes, only the points that it gets or had move.
 *
 * @returns The addresses in their order for this point, in whatever order they were given.
 */
export function rankedFor(dataset: Address, key: Hex, addresses: readonly Address[]): readonly Address[] {
  if (addresses.length < 2) return addresses;
  const weightOf = (address: Address) => keccak(hexToBytes(concatHex([address, dataset, key])));
  return addresses
    .map((address) => ({ address, weight: weightOf(address) }))
    .toSorted((a, b) => Buffer.compare(b.weight, a.weight))
    .map(({ address }) => address);
}
