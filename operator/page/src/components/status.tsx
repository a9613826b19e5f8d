import type { ServedPoint } from "@dataset-oracle/protocol/wire-data";

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
const NEVER_UPDATED: Words = { word: "Never updated", tone: "quiet", icon: "M8 8h.01" };

/** Shows a status as a word and an icon. */
export function Status({ point }: { point: Pick<ServedPoint, "status" | "timestamp"> }) {
  const isNeverUpdated = point.status === "NOT_AVAILABLE" && point.timestamp === 0;
  const { word, tone, icon } = isNeverUpdated ? NEVER_UPDATED : WORDS[point.status];
  return (
    <span class={`status ${tone}`}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={icon} />
      </svg>
      {word}
    </span>
  );
}
