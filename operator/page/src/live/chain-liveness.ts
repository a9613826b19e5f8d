import type { NetworkOverview } from "@dataset-oracle/protocol/http-schemas/overview";

/** A chain has stalled if its newest block is older than this: several times the longest block interval in use. */
const STALLED_SECONDS = 60;

/** Tells whether a network can have new values now: its chain can be read, and has new blocks. */
export function chainLiveness(network: NetworkOverview, now: number): "live" | "unreadable" | "stalled" {
  const { readable, head_timestamp: head } = network;
  if (!readable || head === null) return "unreadable";
  return now - head > STALLED_SECONDS ? "stalled" : "live";
}
