import { keyValueText, kindOf, type ReadValue } from "./value-text.js";

/** How the values of repeated readings vary, for people and for programs. */
interface Summary {
  readonly text: string;
  readonly json: object;
}

/** Shows how a value and each of its sources varied: what matters for the tolerance, and for the rule of a spec. */
export function summarizeReadings(readings: readonly ReadValue[]): Summary {
  const [first] = readings;
  if (first === undefined) throw new Error("There are no readings.");
  const names = [...new Set(readings.flatMap(({ value }) => value.sources.map(({ source }) => source)))];
  const series = [
    { name: "value", values: readings.map(({ value }) => (value.kind === "value" ? value.value : null)) },
    ...names.map((name) => ({
      name,
      values: readings.map(({ value }) => value.sources.find(({ source }) => source === name)?.quote?.value ?? null),
    })),
  ];
  const variations = series.map(({ name, values }) => ({ name, ...variationOf(values) }));
  const width = Math.max(...variations.map(({ name }) => name.length));
  const lines = variations.map(({ name, read, distinct }) => {
    const shown =
      kindOf(first.key) === "median"
        ? rangeText(distinct, first.key)
        : distinct.map((value) => keyValueText(first.key, value)).join(", ");
    return `${name.padEnd(width)}  ${read} of ${readings.length} with a value, ${distinct.length} different: ${shown}`;
  });
  return {
    text: lines.join("\n"),
    json: {
      readings: readings.length,
      series: variations.map(({ name, read, distinct }) => ({
        name,
        with_value: read,
        different: distinct.length,
        lowest: distinct[0]?.toString() ?? null,
        highest: distinct.at(-1)?.toString() ?? null,
      })),
    },
  };
}

function variationOf(values: readonly (bigint | null)[]) {
  const read = values.filter((value) => value !== null);
  return { read: read.length, distinct: [...new Set(read)].toSorted((a, b) => (a < b ? -1 : 1)) };
}

/** Writes the lowest and the highest number, and how far they are apart in basis points of the lowest. */
function rangeText(ascending: readonly bigint[], key: ReadValue["key"]): string {
  const [lowest, highest] = [ascending[0], ascending.at(-1)];
  if (lowest === undefined || highest === undefined) return "-";
  if (lowest === highest) return keyValueText(key, lowest);
  const apart = lowest === 0n ? "" : ` (${Number(((highest - lowest) * 1_000_000n) / lowest) / 100} basis points)`;
  return `${keyValueText(key, lowest)} to ${keyValueText(key, highest)}${apart}`;
}
