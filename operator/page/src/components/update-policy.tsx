import type { ServedPoint } from "@dataset-oracle/protocol/http-schemas/overview";
import { formatDuration } from "../format/time";
import { useOverview } from "../live/overview-state";
import { Fact } from "./fact";

/**
 * Shows when this operator updates a data point: the deviation threshold, the heartbeat, and when the next update is
 * due.
 */
export function UpdatePolicy({ point }: { point: ServedPoint }) {
  const { now } = useOverview();
  const { heartbeat_seconds: heartbeat, deviation_bps: deviation, timestamp } = point;
  if (heartbeat === null || deviation === null) {
    return (
      <dl class="facts policy">
        <Fact name="Updates">on request only</Fact>
      </dl>
    );
  }
  const left = timestamp + heartbeat - now;
  return (
    <dl class="facts policy">
      <Fact name="Deviation threshold">{deviation / 100} %</Fact>
      <Fact name="Heartbeat">{formatDuration(heartbeat)}</Fact>
      <Fact name="Next update due">
        {timestamp === 0 ? (
          "now"
        ) : left >= 0 ? (
          `in ${formatDuration(left)}`
        ) : (
          <span class="warn">{formatDuration(-left)} ago</span>
        )}
      </Fact>
    </dl>
  );
}
