import type { ServedPoint } from "@dataset-oracle/protocol/http-schemas/overview";
import { isLate } from "../live/lateness";
import { useOverview } from "../live/overview-state";

interface Words {
  readonly word: string;
  readonly tone: "good" | "warn" | "bad" | "quiet";
  /** The path of the icon. Each has its own shape, so that nobody has to rely on colours. */
  readonly icon: string;
}

const WORDS: Readonly<Record<ServedPoint["status"], Words>> = {
  OK: { word: "OK", tone: "good", icon: "M3.5 8.5l3 3 6-7" },
  NOT_AVAILABLE: { word: "No data", tone: "warn", icon: "M4 8h8" },
  DISAGREEMENT: { word: "Disagreement", tone: "bad", icon: "M3 5h10M3 11h10M10 2.5l-4 11" },
  INVALID: { word: "Invalid key", tone: "bad", icon: "M4 4l8 8M12 4l-8 8" },
};
const LATE: Words = { word: "Late", tone: "warn", icon: "M8 4.5v4l2.5 1.5M8 2a6 6 0 1 0 .01 0" };
const NEVER_UPDATED: Words = { word: "Never updated", tone: "quiet", icon: "M8 8h.01" };

/** Shows the status of a stored round as a word and an icon. */
export function Status({ status }: Pick<ServedPoint, "status">) {
  return <Sign {...WORDS[status]} />;
}

/** Shows the status of what is stored now: a value that is late is not OK. */
export function CurrentStatus({ point }: { point: ServedPoint }) {
  const { now } = useOverview();
  if (point.status === "NOT_AVAILABLE" && point.timestamp === 0) return <Sign {...NEVER_UPDATED} />;
  return <Sign {...(point.status === "OK" && isLate(point, now) ? LATE : WORDS[point.status])} />;
}

function Sign({ word, tone, icon }: Words) {
  return (
    <span class={`status ${tone}`}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={icon} />
      </svg>
      {word}
    </span>
  );
}
