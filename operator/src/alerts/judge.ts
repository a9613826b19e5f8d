import type { QueryResult } from "@dataset-oracle/protocol/client/query-result";

/** The one thing that is wrong with a stored value. */
export type Trouble = "stale" | "disagreement";

/** A value is stale if its age exceeds the heartbeat by more than an update usually takes, as on the page. */
const LATE = 1.5;

/**
 * Judges the stored value of a feed. A value that was never stored is not judged: its first update may be on its way.
 *
 * @param now Seconds since 1970.
 * @returns Null if nothing is wrong.
 */
export function troubleOf(stored: QueryResult, heartbeatSeconds: number, now: number): Trouble | null {
  if (stored.updatedAt === 0n) return null;
  if (now - Number(stored.updatedAt) > LATE * heartbeatSeconds) return "stale";
  return stored.status === "DISAGREEMENT" ? "disagreement" : null;
}
