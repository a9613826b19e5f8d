import type { NetworkOverview } from "@dataset-oracle/protocol/http-schemas/overview";

/** A chain stands still if its newest block is older than this: several times the longest block interval in use. */
const STILL_SECONDS = 60;

/** Tells whether new values of a network can be seen now: its chain can be read, and it goes on. */
export function stateOf(network: NetworkOverview, now: number): "live" | "unreadable" | "still" {
  const { readable, head_timestamp: head } = network;
  if (!readable || head === null) return "unreadable";
  return now - head > STILL_SECONDS ? "still" : "live";
}
