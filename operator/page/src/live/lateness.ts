import type { ServedPoint } from "@dataset-oracle/protocol/http-schemas/overview";
import { LATE_AFTER_HEARTBEATS } from "@dataset-oracle/protocol/lateness-threshold";

/** Tells whether a value is older than its heartbeat allows. One that is updated on request never is. */
export function isLate({ timestamp, heartbeat_seconds: heartbeat }: ServedPoint, now: number): boolean {
  return timestamp > 0 && heartbeat !== null && now - timestamp > LATE_AFTER_HEARTBEATS * heartbeat;
}
