import { keyValueText, kindOf, type ReadValue } from "./value-text.js";

/** Shows how a value and each of its sources varied: what matters for the tolerance, and for the rule of a spec. */
export function summarizeReadings(key: ReadValue["key"], readings: readonly ReadValue[]): string {
  const names = [...new Set(readings.flatMap(({ value }) => value.sources.map(({ source }) => source)))];
  const series = [
    { name: "value", values: readings.map(({ value }) => (value.kind === "value" ? value.value : null)) },
    ...names.map((name) => ({
      name,
      values: readings.map(({ value }) => value.sources.find(({ source }) => source === name)?.quote?.value ?? null),
    })),
  ];
  const width = Math.max(...series.map(({ name }) => name.length));
  const lines = series.map(({ name, values }) => {
    const read = values.filter((value) => value !== null);
    const distinct = [...new Set(read)].toSorted((a, b) => (a < b ? -1 : 1));
    const shown =
      kindOf(key) === "median"
        ? rangeText(distinct, key)
        : distinct.map((value) => keyValueText(key, value)).join(", ");
    return `${name.padEnd(width)}  ${read.length} of ${readings.length} with a value, ${distinct.length} different: ${shown}`;
  });
  return lines.join("\n");
}

/** Writes the lowest and the highest number, and how far they are apart in basis points of the lowest. */
function rangeText(ascending: readonly bigint[], key: ReadValue["key"]): string {
  const [lowest, highest] = [ascending[0], ascending.at(-1)];
  if (lowest === undefined || highest === undefined) return "-";
  if (lowest === highest) return keyValueText(key, lowest);
  const apart = lowest === 0n ? "" : ` (${Number(((highest - lowest) * 1_000_000n) / lowest) / 100} basis points)`;
  return `${keyValueText(key, lowest)} to ${keyValueText(key, highest)}${apart}`;
}
