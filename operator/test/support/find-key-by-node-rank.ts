import { type Address, stringToHex } from "viem";
import { rankNodesForRequest } from "../../src/peers/rank-nodes-for-request.js";
import type { RunningOperator } from "./operator.js";

/**
 * Finds a key by the order in which the nodes serve its requests, as an operator on chain 42 knows them.
 *
 * @param isMeant Judges the submitters of the nodes, in that order.
 * @param name What the key's base begins with. The same name gives the same key until the order changes.
 */
export function findKeyByNodeRank(
  operator: RunningOperator,
  of: Address,
  isMeant: (submitters: readonly Address[]) => boolean,
  name: string,
  nowMs = Date.now(),
): string {
  const network = operator.networks.get(42);
  const dataset = network?.datasets.get(of);
  if (network === undefined || dataset === undefined) throw new Error(`The operator does not serve ${of}.`);
  for (let i = 0; ; i++) {
    const key = `SPOTPX/${name}${i}-USD`;
    const order = rankNodesForRequest(network.nodes, { dataset, key: stringToHex(key) }, nowMs);
    if (isMeant(order.map(({ submitter }) => submitter))) return key;
  }
}
