import { type Address, concatHex, type Hex } from "viem";
import type { Network } from "../network.js";
import { noSender } from "../problems.js";
import { rankByRendezvousHash } from "../rendezvous-hashing.js";

/**
 * Returns the transaction queue of a data point, which always goes through the same one.
 *
 * @throws ProblemError when this operator sends nothing on the network.
 */
export function queueForKey({ chainId, queues }: Pick<Network, "chainId" | "queues">, dataset: Address, key: Hex) {
  const addresses = queues.map(({ address }) => address);
  const [first] = rankByRendezvousHash(concatHex([dataset, key]), addresses);
  const queue = queues.find(({ address }) => address === first);
  if (queue === undefined) throw noSender(chainId);
  return queue;
}
