import { type Address, encodePacked, type Hex, keccak256 } from "viem";

/** A dataset's data providers and how far apart their values may lie, as the `CommitteeChanged` event holds them. */
export interface Committee {
  /** Strictly ascending. */
  readonly members: readonly Address[];
  /** In basis points of the median. */
  readonly toleranceBps: bigint;
}

/** The hash that a dataset stores of its committee. */
export function committeeHash({ members, toleranceBps }: Committee): Hex {
  return keccak256(encodePacked(["uint256", "address[]"], [toleranceBps, [...members]]));
}
