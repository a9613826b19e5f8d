import type { Hex } from "viem";
import type { Dataset } from "../network.js";

/** Finds the keys of a batch, which names them by hash, among the feeds. Returns null if one is not a feed. */
export function findFeedKeysByHash({ feeds }: Dataset, hashes: readonly Hex[]): readonly Hex[] | null {
  const byHash = new Map(feeds.map(({ key, keyHash }) => [keyHash, key]));
  const keys = hashes.flatMap((hash) => byHash.get(hash) ?? []);
  return keys.length === hashes.length ? keys : null;
}
