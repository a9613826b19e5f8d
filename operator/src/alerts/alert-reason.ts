import type { QueryResult } from "@dataset-oracle/protocol/client/query-result";
import { LATE_AFTER_HEARTBEATS } from "@dataset-oracle/protocol/lateness-threshold";

/** The one thing that is wrong with a stored value. */
export type AlertReason = "stale" | "disagreement";

/**
 * Returns the reason for an alert about the stored value of a feed. There is none for a value that was never stored: its
 * first update may be on its way.
 *
 * @param now Seconds since 1970.
 * @returns Null if nothing is wrong.
 */
export function alertReason(stored: QueryResult, heartbeatSeconds: number, now: number): AlertReason | null {
  if (stored.updatedAt === 0n) return null;
  if (now - Number(stored.updatedAt) > LATE_AFTER_HEARTBEATS * heartbeatSeconds) return "stale";
  return stored.status === "DISAGREEMENT" ? "disagreement" : null;
}
