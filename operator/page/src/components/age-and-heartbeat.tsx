import type { ServedPoint } from "@dataset-oracle/protocol/http-schemas/overview";
import { formatDuration, formatTime } from "../format/time";
import { isLate } from "../live/lateness";
import { useOverview } from "../live/overview-state";

/** Shows the age of a value and the heartbeat at which it is updated, with a bar that is full at the heartbeat. */
export function Age({ point }: { point: ServedPoint }) {
  const { now } = useOverview();
  const { timestamp, heartbeat_seconds: heartbeat } = point;
  if (timestamp === 0) return <span class="quiet">—</span>;
  const age = Math.max(0, now - timestamp);
  const part = heartbeat === null ? null : age / heartbeat;
  return (
    <span class={isLate(point, now) ? "age small warn" : "age small"} title={formatTime(timestamp)}>
      <span class="now">{formatDuration(age)}</span>
      <span class="quiet"> {heartbeat === null ? "on request" : `of ${formatDuration(heartbeat)}`}</span>
      {part !== null && (
        <span class="meter">
          <i style={{ width: `${100 * Math.min(1, part)}%` }} />
        </span>
      )}
    </span>
  );
}
