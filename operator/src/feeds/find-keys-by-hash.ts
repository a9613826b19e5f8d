import { type Hex, keccak256 } from "viem";
import type { Dataset, Network } from "../network.js";

/** Finds the keys of a batch, which names them by hash, among the feeds. Returns null if one is not a feed. */
export function findFeedKeysByHash(
  { feeds }: Pick<Network, "feeds">,
  dataset: Dataset,
  hashes: readonly Hex[],
): readonly Hex[] | null {
  const known = feeds.filter((datasetFeeds) => datasetFeeds.dataset === dataset).flatMap((one) => one.feeds);
  const byHash = new Map(known.map(({ key }) => [keccak256(key), key]));
  const keys = hashes.flatMap((hash) => byHash.get(hash) ?? []);
  return keys.length === hashes.length ? keys : null;
}
