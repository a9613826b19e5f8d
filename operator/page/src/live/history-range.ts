import type { ServedPoint } from "@dataset-oracle/protocol/http-schemas/overview";

/** The ranges of time that the history is shown for. */
export const RANGES = {
  "1 h": { name: "the last hour", seconds: 3_600, interval: 60 },
  "1 d": { name: "the last day", seconds: 86_400, interval: 300 },
  "1 w": { name: "the last week", seconds: 604_800, interval: 1_800 },
  All: { name: "the blocks that the operator searches", seconds: null, interval: 3_600 },
} as const;

export type RangeId = keyof typeof RANGES;

/** Returns the range that has a useful number of rounds, by how often the value is updated. */
export function defaultRange({ heartbeat_seconds: heartbeat }: Pick<ServedPoint, "heartbeat_seconds">): RangeId {
  if (heartbeat === null) return "1 w";
  return heartbeat <= 300 ? "1 h" : "1 d";
}
