import { keccak } from "@dataset-oracle/service/crypto/keccak";
import { type Address, concatHex, type Hex, hexToBytes } from "viem";
import type { TransactionQueue } from "./queue.js";

/** The senders of one network, each with its transaction queue. A data point always goes through the same one. */
export class Senders {
  constructor(readonly queues: readonly [TransactionQueue, ...TransactionQueue[]]) {}

  get addresses(): Address[] {
    return this.queues.map(({ address }) => address);
  }

  queueFor(dataset: Address, key: Hex): TransactionQueue {
    const [first] = rankedFor(dataset, key, this.addresses);
    return this.queues.find(({ address }) => address === first) ?? this.queues[0];
  }
}

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
