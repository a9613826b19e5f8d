import { duration, moment } from "../format/time";
import { useLive } from "../live/live";

interface Aged {
  readonly timestamp: number;
  readonly heartbeat_seconds: number | null;
}

/** Returns true if the age exceeds the heartbeat by more than a transaction usually takes. */
export const isLate = (age: number, heartbeat: number) => age > 1.5 * heartbeat;

/** Shows the age of a value and the heartbeat at which it is updated. */
export function Age({ point }: { point: Aged }) {
  const { now } = useLive();
  const { timestamp, heartbeat_seconds: heartbeat } = point;
  if (timestamp === 0) return <span class="quiet">—</span>;
  const age = Math.max(0, now - timestamp);
  const late = heartbeat !== null && isLate(age, heartbeat);
  return (
    <span class={`age ${late ? "tone-warn" : ""}`} title={moment(timestamp)}>
      <span class="age-now">{duration(age)}</span>
      {heartbeat === null ? (
        <span class="quiet"> on request</span>
      ) : (
        <span class="quiet"> of {duration(heartbeat)}</span>
      )}
      {late && <strong class="late"> late</strong>}
      {heartbeat !== null && <Meter part={age / heartbeat} />}
    </span>
  );
}

/** A bar that is full at the heartbeat. */
function Meter({ part }: { part: number }) {
  const width = 100 * Math.min(1, part);
  return (
    <svg class="meter" viewBox="0 0 100 2" preserveAspectRatio="none" aria-hidden="true">
      <rect class="meter-all" width="100" height="2" />
      <rect class="meter-part" width={width} height="2" />
    </svg>
  );
}
