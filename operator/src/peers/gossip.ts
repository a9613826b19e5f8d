import type { Address, Hex } from "viem";

/** A transaction that another node signed. */
export interface SharedTransaction {
  readonly raw: Hex;
  readonly hash: Hex;
}

/** The exchange of signed transactions between nodes. An operator by itself has nobody to tell anything. */
export interface Gossip {
  /** Tells the other nodes a signed transaction of this node. */
  share(raw: Hex): void;
  /**
   * Finds the newest valid transaction that another node shared for all of these keys.
   *
   * @param round The oldest round that will do, in seconds since 1970.
   */
  sharedFor(dataset: Address, keys: readonly Hex[], round: bigint): SharedTransaction | null;
}

/** The gossip of an operator by itself. */
export const NO_GOSSIP: Gossip = {
  share: () => {},
  sharedFor: () => null,
};
