import { concatHex, type Hex, numberToHex } from "viem";
import type { DataPoint } from "../data-point.js";
import { rankByRendezvousHash } from "../rendezvous-hashing.js";
import { type Node, type Nodes, nodesIn, nodesOfProviders } from "./node-list.js";

const TURN_MS = 60_000;

/**
 * Orders a committee's nodes by whose turn it is to serve a key's requests: the first serves them for this minute. The
 * order changes each minute, so that a node that takes requests and does not send holds none of them up for long.
 *
 * @param nowMs Milliseconds since 1970.
 */
export function rankNodesForRequest(
  nodes: Pick<Nodes, "all">,
  { dataset, key }: { readonly dataset: Pick<DataPoint["dataset"], "address" | "committee">; readonly key: Hex },
  nowMs: number,
): readonly Node[] {
  const minute = numberToHex(Math.floor(nowMs / TURN_MS), { size: 8 });
  const ranked = rankByRendezvousHash(
    concatHex([dataset.address, key, minute]),
    nodesIn(dataset.committee.current.members, nodes),
  );
  return nodesOfProviders(ranked, nodes);
}
