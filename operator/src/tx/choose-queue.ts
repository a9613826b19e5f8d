import { type Address, concatHex, type Hex } from "viem";
import type { Network } from "../network.js";
import { noSender } from "../problems.js";
import { rankByRendezvousHash } from "../rendezvous-hashing.js";

/**
 * Returns the transaction queue of a data point, which always goes through the same one. A node has one for all of them,
 * because the other nodes recognize its transactions by its submitter.
 *
 * @throws ProblemError when this operator sends nothing on the network.
 */
export function chooseQueue(
  { chainId, queues, nodes: { own } }: Pick<Network, "chainId" | "queues" | "nodes">,
  dataset: Address,
  key: Hex,
) {
  const addresses = own === null ? queues.map(({ address }) => address) : [own.submitter];
  const [first] = rankByRendezvousHash(concatHex([dataset, key]), addresses);
  const queue = queues.find(({ address }) => address === first);
  if (queue === undefined) throw noSender(chainId);
  return queue;
}
