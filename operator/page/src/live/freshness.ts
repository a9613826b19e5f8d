import { LATE_AFTER_HEARTBEATS } from "@dataset-oracle/protocol/lateness";
import { faultBound } from "@dataset-oracle/protocol/quorum";
import type { DatasetOverview, NetworkOverview, ServedPoint } from "@dataset-oracle/protocol/wire-data";

/** A chain stands still if its newest block is older than this: several times the longest block interval in use. */
const STILL_SECONDS = 60;

/** Tells whether a value is older than its heartbeat allows. One that is updated on request never is. */
export function isLate({ timestamp, heartbeat_seconds: heartbeat }: ServedPoint, now: number): boolean {
  return timestamp > 0 && heartbeat !== null && now - timestamp > LATE_AFTER_HEARTBEATS * heartbeat;
}

/** Tells whether new values of a network can be seen now: its chain can be read, and it goes on. */
export function stateOf(network: NetworkOverview, now: number): "live" | "unreadable" | "still" {
  const { readable, head_timestamp: head } = network;
  if (!readable || head === null) return "unreadable";
  return now - head > STILL_SECONDS ? "still" : "live";
}

/** How many providers must sign, and how many of them answer this operator as far as it knows. */
export function quorumOf({ providers }: DatasetOverview): { readonly needed: number; readonly answering: number } {
  const needed = providers.length - faultBound(providers.length);
  const answering = providers.filter(({ url, failing }) => url !== null && failing === null).length;
  return { needed, answering };
}
