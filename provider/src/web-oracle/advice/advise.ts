import { hexToString, numberToHex } from "viem";
import type { Reading } from "../../source/reading.js";
import { combine } from "../combine.js";
import type { BoundRequest, CompiledRequest } from "../compile.js";
import { readingsOf, type Samples } from "./samples.js";

/** How a value behaves: two providers never read at the same instant, so what changes in between tells them apart. */
export type Character =
  | "no value"
  | "fixed number"
  | "drifting number"
  | "jumping number"
  | "fixed word"
  | "changing word"
  | "numeric word";

/** One source in all samples. */
export interface SourceAdvice {
  readonly name: string;
  readonly answered: number;
  /** How often it failed, by reason. */
  readonly failures: Readonly<Record<string, number>>;
  readonly steps: Steps;
  /** The source whose values it shows later; null when there is none. */
  readonly follows: Follows | null;
}

/** The changes of a value from one sample to the next, where both have one. */
export interface Steps {
  readonly count: number;
  readonly changed: number;
  /** The largest change of a number in basis points of the smaller value; infinite from or to 0. */
  readonly largestBps: number;
  readonly medianBps: number;
}

export interface Follows {
  readonly name: string;
  /** By how many samples. */
  readonly samples: number;
  /** The mean distance between the two at the same time, and with this delay: of numbers in basis points, else a ratio. */
  readonly distance: number;
  readonly delayedDistance: number;
}

export interface Advice {
  readonly samples: number;
  readonly seconds: number;
  /** How many samples had a value. */
  readonly answered: number;
  readonly character: Character;
  readonly steps: Steps;
  /** Of the samples in which several sources answered: in how many all said the same, and how far numbers were apart. */
  readonly agreement: { readonly compared: number; readonly equal: number; readonly farthestBps: number };
  /** In how many samples each way of combining words gave a value. */
  readonly combinations: { readonly majority: number; readonly equal: number };
  /** In how many of the steps the change was within a tolerance. */
  readonly tolerances: readonly { readonly bps: number; readonly held: number }[];
  readonly sources: readonly SourceAdvice[];
}

type Value = bigint | null;

const TOLERANCES = [0, 1, 5, 10, 25, 50, 100, 200, 500];

/** A number that changes by more from one sample to the next does not drift, in basis points. */
const JUMP_BPS = 1_000;

/** The longest delay between two sources that is looked for, in samples. */
const MAX_DELAY = 10;

/** Computes advice from samples. The same samples always give the same advice. */
export function advise({ spec, type }: CompiledRequest, bound: BoundRequest, { samples, texts }: Samples): Advice {
  const readings = samples.map(({ answers }) => readingsOf(bound, answers, texts));
  const isNumber = type === "uint";
  const distance = isNumber ? bpsBetween : (a: bigint, b: bigint) => (a === b ? 0 : 1);
  const values = readings.map((all): Value => {
    const combined = bound.combine(all);
    return combined.kind === "value" ? combined.value : null;
  });
  const bySource = bound.sources.map((_, index) => readings.map((all) => all[index] as Reading<bigint>));
  const series = bySource.map((all) => all.map((reading): Value => (reading.ok ? reading.value : null)));
  const isPlainText = type === "string" && spec.sources.every(({ hash }) => hash !== true);
  const countOf = (how: "majority" | "equal") =>
    readings.filter((all) => combine(all, spec.minSources, how).kind === "value").length;
  const [first, last] = [samples[0]?.at ?? 0, samples.at(-1)?.at ?? 0];
  return {
    samples: samples.length,
    seconds: (last - first) / 1_000,
    answered: values.filter((value) => value !== null).length,
    character: characterOf(values, isNumber, isPlainText),
    steps: stepsOf(values),
    agreement: agreementOf(readings),
    combinations: { majority: countOf("majority"), equal: countOf("equal") },
    tolerances: TOLERANCES.map((bps) => ({
      bps,
      held: pairsOf(values).filter(([a, b]) => isWithin(a, b, BigInt(bps))).length,
    })),
    sources: bySource.map((all, index) => ({
      name: nameOf(index),
      answered: all.filter(({ ok }) => ok).length,
      failures: countFailures(all),
      steps: stepsOf(series[index] ?? []),
      follows: followsOf(index, series, distance),
    })),
  };
}

const nameOf = (index: number) => `/sources/${index}`;

/** Returns the values of neighbouring samples that both have one. */
function pairsOf(values: readonly Value[]): [bigint, bigint][] {
  return values.slice(1).flatMap((value, index): [bigint, bigint][] => {
    const before = values[index] ?? null;
    return before === null || value === null ? [] : [[before, value]];
  });
}

/** Compares as the dataset does, for the stricter of the two medians. */
function isWithin(a: bigint, b: bigint, toleranceBps: bigint): boolean {
  const [low, high] = a < b ? [a, b] : [b, a];
  return (high - low) * 10_000n <= toleranceBps * low;
}

/** Returns the distance in basis points of the smaller value, to three decimals; infinite between 0 and another number. */
function bpsBetween(a: bigint, b: bigint): number {
  const [low, high] = a < b ? [a, b] : [b, a];
  if (low === high) return 0;
  return low === 0n ? Number.POSITIVE_INFINITY : Number(((high - low) * 10_000_000n) / low) / 1_000;
}

function stepsOf(values: readonly Value[]): Steps {
  const pairs = pairsOf(values);
  const distances = pairs.map(([a, b]) => bpsBetween(a, b)).toSorted((a, b) => a - b);
  return {
    count: pairs.length,
    changed: pairs.filter(([a, b]) => a !== b).length,
    largestBps: distances.at(-1) ?? 0,
    medianBps: distances[Math.floor((distances.length - 1) / 2)] ?? 0,
  };
}

function characterOf(values: readonly Value[], isNumber: boolean, isPlainText: boolean): Character {
  const known = values.flatMap((value) => value ?? []);
  if (known.length === 0) return "no value";
  const { changed, largestBps } = stepsOf(values);
  if (isNumber) {
    if (changed === 0) return "fixed number";
    return largestBps > JUMP_BPS ? "jumping number" : "drifting number";
  }
  if (changed === 0) return "fixed word";
  const isNumeric = (value: bigint) =>
    /^-?\d+(?:\.\d+)?$/.test(hexToString(numberToHex(value, { size: 32 }), { size: 32 }));
  return isPlainText && known.every(isNumeric) ? "numeric word" : "changing word";
}

function agreementOf(readings: readonly (readonly Reading<bigint>[])[]): Advice["agreement"] {
  const compared = readings
    .map((all) => all.flatMap((reading) => (reading.ok ? [reading.value] : [])))
    .filter(({ length }) => length > 1);
  const spreads = compared.map((values) => {
    const sorted = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    return bpsBetween(sorted[0] ?? 0n, sorted.at(-1) ?? 0n);
  });
  return {
    compared: compared.length,
    equal: spreads.filter((spread) => spread === 0).length,
    farthestBps: Math.max(0, ...spreads),
  };
}

function countFailures(readings: readonly Reading<bigint>[]): Record<string, number> {
  const failures: Record<string, number> = {};
  for (const reading of readings) {
    if (!reading.ok) failures[reading.error.code] = (failures[reading.error.code] ?? 0) + 1;
  }
  return failures;
}

/** Finds the other source that a source is at least twice as close to with a delay as without. */
function followsOf(
  index: number,
  series: readonly (readonly Value[])[],
  distance: (a: bigint, b: bigint) => number,
): Follows | null {
  const own = series[index] ?? [];
  const maxDelay = Math.min(MAX_DELAY, Math.floor(own.length / 3));
  let best: Follows | null = null;
  for (const [other, values] of series.entries()) {
    if (other === index) continue;
    const [now, ...delayed] = Array.from({ length: maxDelay + 1 }, (_, delay) =>
      meanDistance(own, values, delay, maxDelay, distance),
    );
    for (const [before, mean] of delayed.entries()) {
      if (now === undefined || now === null || mean === null || mean > now / 2 || now === 0) continue;
      if (best !== null && best.delayedDistance <= mean) continue;
      best = { name: nameOf(other), samples: before + 1, distance: now, delayedDistance: mean };
    }
  }
  return best;
}

/** @param from The first sample that is compared: the same for all delays, so that their means can be compared. */
function meanDistance(
  own: readonly Value[],
  other: readonly Value[],
  delay: number,
  from: number,
  distance: (a: bigint, b: bigint) => number,
): number | null {
  const distances = own.slice(from).flatMap((value, index) => {
    const earlier = other[from + index - delay] ?? null;
    return value === null || earlier === null ? [] : [distance(value, earlier)];
  });
  if (distances.length < 3) return null;
  return distances.reduce((sum, one) => sum + one, 0) / distances.length;
}
