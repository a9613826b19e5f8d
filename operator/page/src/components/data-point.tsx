/** The parts of a data point: its key, its status, its age. */

import type { ServedPoint } from "@dataset-oracle/protocol/http-schemas/overview";
import { splitKey } from "../format/names";
import { formatDuration, formatTime } from "../format/time";
import type { ShownValue } from "../format/values";
import { isLate } from "../live/health";
import { useOverview } from "../live/overview";

/** Shows a key with its prefix toned down. */
export function KeyName({ text }: { text: string }) {
  const { prefix, name } = splitKey(text);
  return (
    <>
      <span class="quiet">{prefix}</span>
      {name && !prefix.endsWith("/") && " "}
      {name}
    </>
  );
}

/** Shows a value with its unit; null where there is none. */
export function Shown({ value }: { value: ShownValue | null }) {
  if (value === null) return <>—</>;
  return (
    <>
      {value.text} {value.unit && <span class="unit">{value.unit}</span>}
    </>
  );
}

interface Appearance {
  readonly word: string;
  readonly tone: "good" | "warn" | "bad" | "quiet";
  /** The path of the icon. Each has its own shape, so that nobody has to rely on colours. */
  readonly icon: string;
}

const APPEARANCES: Readonly<Record<ServedPoint["status"], Appearance>> = {
  OK: { word: "OK", tone: "good", icon: "M3.5 8.5l3 3 6-7" },
  NOT_AVAILABLE: { word: "No data", tone: "warn", icon: "M4 8h8" },
  DISAGREEMENT: { word: "Disagreement", tone: "bad", icon: "M3 5h10M3 11h10M10 2.5l-4 11" },
  INVALID: { word: "Invalid key", tone: "bad", icon: "M4 4l8 8M12 4l-8 8" },
};
const LATE: Appearance = { word: "Late", tone: "warn", icon: "M8 4.5v4l2.5 1.5M8 2a6 6 0 1 0 .01 0" };
const NEVER_UPDATED: Appearance = { word: "Never updated", tone: "quiet", icon: "M8 8h.01" };

/** Shows the status of a stored round as a word and an icon. */
export function Status({ status }: Pick<ServedPoint, "status">) {
  return <StatusBadge {...APPEARANCES[status]} />;
}

/** Shows the status of what is stored now: a value that is late is not OK. */
export function CurrentStatus({ point }: { point: ServedPoint }) {
  const { now } = useOverview();
  if (point.status === "NOT_AVAILABLE" && point.timestamp === 0) return <StatusBadge {...NEVER_UPDATED} />;
  return <StatusBadge {...(point.status === "OK" && isLate(point, now) ? LATE : APPEARANCES[point.status])} />;
}

function StatusBadge({ word, tone, icon }: Appearance) {
  return (
    <span class={`status ${tone}`}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={icon} />
      </svg>
      {word}
    </span>
  );
}

/** Shows the age of a value and the heartbeat at which it is updated. */
export function Age({ point }: { point: ServedPoint }) {
  const { now } = useOverview();
  const { timestamp, heartbeat_seconds: heartbeat } = point;
  if (timestamp === 0) return <span class="quiet">—</span>;
  const age = Math.max(0, now - timestamp);
  return (
    <span class={isLate(point, now) ? "age small warn" : "age small"} title={formatTime(timestamp)}>
      {formatDuration(age)}
      <span class="quiet"> {heartbeat === null ? "on request" : `of ${formatDuration(heartbeat)}`}</span>
    </span>
  );
}
