import type { QueryResult } from "@dataset-oracle/protocol/client/query-result";
import { LATE_AFTER_HEARTBEATS } from "@dataset-oracle/protocol/lateness-threshold";

/** The one thing that is wrong with a stored value. */
export type AlertReason = "stale" | "disagreement" | "no_value";

/**
 * Returns the reason for an alert about the stored value of a feed. The age of a value that was never stored counts from the
 * start of the process, because its first update may be on its way.
 *
 * @param startedAt When the process started, in seconds since 1970, like `now`.
 * @returns Null if nothing is wrong.
 */
export function alertReason(
  stored: QueryResult,
  heartbeatSeconds: number,
  startedAt: number,
  now: number,
): AlertReason | null {
  const isStored = stored.updatedAt > 0n;
  const since = isStored ? Number(stored.updatedAt) : startedAt;
  if (now - since > LATE_AFTER_HEARTBEATS * heartbeatSeconds) return "stale";
  if (stored.status === "DISAGREEMENT") return "disagreement";
  return isStored && stored.status === "NOT_AVAILABLE" ? "no_value" : null;
}
