import { type Address, concatHex, type Hex, numberToHex } from "viem";
import type { DataPoint } from "../data-point.js";
import { rankedFor } from "../rendezvous.js";
import type { Node, Nodes } from "./nodes.js";

const TURN_MS = 60_000;

/**
 * Orders the nodes that are in a committee by whose turn a key's requests are: the first serves them for this minute. The
 * order changes each minute, so that a node that takes requests and does not send holds none of them up for long.
 *
 * @param nowMs Milliseconds since 1970.
 */
export function requestOrder(
  { all }: Pick<Nodes, "all">,
  { dataset, key }: { readonly dataset: Pick<DataPoint["dataset"], "address" | "committee">; readonly key: Hex },
  nowMs: number,
): readonly Node[] {
  const members = new Set<Address>(dataset.committee.current.members);
  const nodes = new Map(all.flatMap((node) => (members.has(node.provider) ? [[node.provider, node] as const] : [])));
  const minute = numberToHex(Math.floor(nowMs / TURN_MS), { size: 8 });
  const ranked = rankedFor(concatHex([dataset.address, key, minute]), [...nodes.keys()]);
  return ranked.flatMap((provider) => nodes.get(provider) ?? []);
}
