import { type Address, encodePacked, type Hex, keccak256 } from "viem";

/** A dataset's data providers and the tolerance of their values, as in the `CommitteeChanged` event. */
export interface Committee {
  /** Strictly ascending. */
  readonly members: readonly Address[];
  /** In basis points of the median. */
  readonly toleranceBps: bigint;
}

/** Returns the hash of a committee that a dataset stores. */
export function committeeHash({ members, toleranceBps }: Committee): Hex {
  return keccak256(encodePacked(["uint256", "address[]"], [toleranceBps, [...members]]));
}
