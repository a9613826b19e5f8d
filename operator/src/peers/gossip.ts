import type { Address, Hex } from "viem";
import type { Dataset, Network } from "../network.js";

/** A transaction that another node signed. */
export interface SharedTransaction {
  readonly raw: Hex;
  readonly hash: Hex;
  readonly sender: Address;
  readonly nonce: number;
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
  /**
   * Asks other nodes for such transactions, because this one may have been cut off when they were shared. It holds what is so,
   * and never throws.
   *
   * @param providers Those whose nodes are asked.
   */
  fetch(network: Network, dataset: Dataset, key: Hex, round: bigint, providers: ReadonlySet<Address>): Promise<void>;
}

/** The gossip of an operator by itself. */
export const NO_GOSSIP: Gossip = {
  share: () => {},
  sharedFor: () => null,
  fetch: async () => {},
};
