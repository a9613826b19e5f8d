import { mostFrequent } from "@dataset-oracle/protocol/agreed-value";
import { type CombinedValue, median, outcomeOfTooFewValues } from "../combined-value.js";
import type { Reading } from "../source/source-failure.js";

/** The ways in which values of several sources become one. */
export const COMBINATIONS = ["median", "majority", "equal"] as const;
export type Combination = (typeof COMBINATIONS)[number];

/** @param minSources How many sources must have answered. */
export function combine(readings: readonly Reading<bigint>[], minSources: number, how: Combination): CombinedValue {
  const values = readings.flatMap((reading) => (reading.ok ? [reading.value] : []));
  if (values.length < minSources) {
    const reason = `${values.length} of ${readings.length} sources answered, fewer than ${minSources}`;
    const waits = readings.flatMap((reading) => (reading.ok ? [] : (reading.error.retryAfter ?? [])));
    return outcomeOfTooFewValues(waits, minSources - values.length, reason);
  }
  if (how === "median") return { kind: "value", value: median(values) };
  const value = mostFrequent(values) ?? 0n;
  const count = values.filter((other) => other === value).length;
  const needed = how === "equal" ? values.length : Math.floor(values.length / 2) + 1;
  return count >= needed
    ? { kind: "value", value }
    : { kind: "none", reason: `${count} of ${values.length} sources agree, fewer than ${needed}` };
}
