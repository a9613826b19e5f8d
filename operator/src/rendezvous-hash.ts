import { keccak } from "@dataset-oracle/service/keccak";
import { type Address, concatHex, type Hex, hexToBytes } from "viem";

/**
 * Ranks addresses for a data point by rendezvous hashing: when an address comes or goes, only the data points that it gets
 * or had move.
 *
 * @returns The addresses, best rank first. The order in which they were given does not matter.
 */
export function rankedFor(dataset: Address, key: Hex, addresses: readonly Address[]): readonly Address[] {
  if (addresses.length < 2) return addresses;
  const weightOf = (address: Address) => keccak(hexToBytes(concatHex([address, dataset, key])));
  return addresses
    .map((address) => ({ address, weight: weightOf(address) }))
    .toSorted((a, b) => Buffer.compare(b.weight, a.weight))
    .map(({ address }) => address);
}
