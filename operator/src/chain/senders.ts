import { type Address, concatHex, type Hex, keccak256 } from "viem";
import type { Lane } from "./lane.js";

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

  /** By rendezvous hashing: when a sender comes or goes, only the points that it gets or had move. */
  laneOf(dataset: Address, key: Hex): Lane {
    const [first, ...others] = this.lanes;
    if (others.length === 0) return first;
    const weighted = this.lanes.map((lane) => ({ lane, weight: keccak256(concatHex([lane.address, dataset, key])) }));
    return weighted.reduce((best, next) => (next.weight > best.weight ? next : best)).lane;
  }
}
