import type { Address, Hex } from "viem";
import type { Lane } from "./lane.js";
import { rankedFor } from "./rendezvous.js";

/** The senders of one network. One data point always has the same one, as long as the senders are the same. */
export class Senders {
  /** @param lanes At least one. */
  constructor(private readonly lanes: readonly [Lane, ...Lane[]]) {}

  get all(): readonly Lane[] {
    return this.lanes;
  }

  get addresses(): Address[] {
    return this.lanes.map(({ address }) => address);
  }

  laneOf(dataset: Address, key: Hex): Lane {
    const [first] = rankedFor(dataset, key, this.addresses);
    return this.lanes.find(({ address }) => address === first) ?? this.lanes[0];
  }
}
