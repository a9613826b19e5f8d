import { median } from "../median.js";
import type { Reading } from "../source/reading.js";

/** How the values of several sources become one. */
export const COMBINATIONS = ["median", "majority", "equal"] as const;
export type Combination = (typeof COMBINATIONS)[number];

/** What the sources' answers come to. */
export type Combined =
  /** As the 32 bytes' number. */
  | { readonly kind: "value"; readonly value: bigint }
  /** There is no value now. */
  | { readonly kind: "none"; readonly reason: string }
  /** Nothing is known: sources that could have made up the number are at their rate limit. */
  | { readonly kind: "busy"; readonly retryAfter: number };

/** @param minSources How many must have answered. */
export function combine(readings: readonly Reading<bigint>[], minSources: number, how: Combination): Combined {
  const values = readings.flatMap((reading) => (reading.ok ? [reading.value] : []));
  if (values.length < minSources) {
    const waits = readings.flatMap((reading) => (reading.ok ? [] : (reading.retryAfter ?? [])));
    // When as many as are missing can be asked again.
    const retryAfter = waits.toSorted((a, b) => a - b)[minSources - values.length - 1];
    if (retryAfter !== undefined) return { kind: "busy", retryAfter: Math.ceil(retryAfter) };
    return { kind: "none", reason: `${values.length} of ${readings.length} sources answered, not ${minSources}` };
  }
  if (how === "median") return { kind: "value", value: median(values) };
  const value = mostFrequent(values);
  const count = values.filter((other) => other === value).length;
  const needed = how === "equal" ? values.length : Math.floor(values.length / 2) + 1;
  return count >= needed
    ? { kind: "value", value }
    : { kind: "none", reason: `${count} of ${values.length} sources agree, not ${needed}` };
}

function mostFrequent(values: readonly bigint[]): bigint {
  const counts = new Map<bigint, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const [first] = [...counts].toSorted(([, a], [, b]) => b - a);
  return first?.[0] ?? 0n;
}
