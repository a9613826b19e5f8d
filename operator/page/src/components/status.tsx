import type { ServedPoint } from "@dataset-oracle/protocol/wire-data";

type Word = "OK" | "No data" | "Never updated" | "Disagreement" | "Invalid key";

/** Returns a status in words. */
export function statusWord({ status, timestamp }: Pick<ServedPoint, "status" | "timestamp">): Word {
  if (status === "OK") return "OK";
  if (status === "DISAGREEMENT") return "Disagreement";
  if (status === "INVALID") return "Invalid key";
  return timestamp === 0 ? "Never updated" : "No data";
}

// Shapes, so that nobody has to rely on colours.
const SHAPES: Readonly<Record<Word, string>> = {
  OK: "M3.5 8.5l3 3 6-7",
  "No data": "M4 8h8",
  "Never updated": "M8 8h.01",
  Disagreement: "M3 5h10M3 11h10M10 2.5l-4 11",
  "Invalid key": "M4 4l8 8M12 4l-8 8",
};

const TONES: Readonly<Record<Word, string>> = {
  OK: "good",
  "No data": "warn",
  "Never updated": "quiet",
  Disagreement: "bad",
  "Invalid key": "bad",
};

/** Shows a status as a word and an icon. */
export function Status({ point }: { point: Pick<ServedPoint, "status" | "timestamp"> }) {
  const word = statusWord(point);
  return (
    <span class={`status tone-${TONES[word]}`}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={SHAPES[word]} />
      </svg>
      {word}
    </span>
  );
}
