import { type Address, concatHex, type Hex } from "viem";
import { rankedFor } from "../rendezvous.js";
import type { TransactionQueue } from "./queue.js";

/** The senders of one network, each with its transaction queue. A data point always goes through the same one. */
export class Senders {
  constructor(readonly queues: readonly [TransactionQueue, ...TransactionQueue[]]) {}

  get addresses(): Address[] {
    return this.queues.map(({ address }) => address);
  }

  queueFor(dataset: Address, key: Hex): TransactionQueue {
    const [first] = rankedFor(concatHex([dataset, key]), this.addresses);
    return this.queues.find(({ address }) => address === first) ?? this.queues[0];
  }
}
