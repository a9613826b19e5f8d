/** Whether values can be current: of a data point, of a network, of a dataset's providers. */

import type { DatasetOverview, NetworkOverview, ServedPoint } from "@dataset-oracle/protocol/http-schemas/overview";
import { LATE_AFTER_HEARTBEATS } from "@dataset-oracle/protocol/lateness-threshold";
import { faultBound } from "@dataset-oracle/protocol/quorum";

/** A chain has stalled if its newest block is older than this: several times the longest block interval in use. */
const STALLED_SECONDS = 60;

/** Tells whether a value is older than its heartbeat allows. One that is updated on request never is. */
export function isLate({ timestamp, heartbeat_seconds: heartbeat }: ServedPoint, now: number): boolean {
  return timestamp > 0 && heartbeat !== null && now - timestamp > LATE_AFTER_HEARTBEATS * heartbeat;
}

/** Tells whether a network can have new values now: its chain can be read, and has new blocks. */
export function chainLiveness(network: NetworkOverview, now: number): "live" | "unreadable" | "stalled" {
  const { readable, head_timestamp: head } = network;
  if (!readable || head === null) return "unreadable";
  return now - head > STALLED_SECONDS ? "stalled" : "live";
}

/** Counts the providers that must sign, and those that answer this operator, as far as it knows. */
export function countAnsweringProviders({ providers }: DatasetOverview): {
  readonly needed: number;
  readonly answering: number;
} {
  const needed = providers.length - faultBound(providers.length);
  const answering = providers.filter(({ url, failing }) => url !== null && failing === null).length;
  return { needed, answering };
}
