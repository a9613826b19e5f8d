import type { SpecAdvice, ValueBehaviour } from "@dataset-oracle/protocol/http-schemas/spec-advice";
import { hexToString, numberToHex } from "viem";
import { median } from "../../median.js";
import type { Reading } from "../../source/source-failure.js";
import { combine } from "../combine.js";
import type { BoundRequest, CompiledRequest } from "../compile-spec.js";
import type { ProviderReadings } from "./parse-readings.js";

type Value = bigint | null;
/** The values of one source, or of the whole spec, at one provider over time. */
type Series = readonly Value[];
type SourceAdvice = SpecAdvice["sources"][number];

const TOLERANCES = [0, 1, 5, 10, 25, 50, 100, 200, 500];

/** A number that changes by more than this from one sample to the next jumps instead of drifting, in basis points. */
const JUMP_BPS = 1_000;

/** The longest delay between two sources that is looked for, in samples. */
const MAX_DELAY = 10;

/** Computes the figures for the readings of one or more providers. */
export function figuresOf(
  { spec, type }: CompiledRequest,
  bound: BoundRequest,
  providers: readonly ProviderReadings[],
  intervalSeconds: number,
): Omit<SpecAdvice, "conclusions"> {
  const isNumber = type === "uint";
  const isPlainText = type === "string" && spec.sources.every(({ hash }) => hash !== true);
  const answered = providers.flatMap(({ samples }) => samples.flatMap((sample) => (sample === null ? [] : [sample])));
  const values = providers.map(({ samples }) => samples.map((sample) => combinedOf(bound, sample)));
  const sources = bound.sources.map((_, index) =>
    providers.map(({ samples }) => samples.map((sample) => sample?.[index] ?? null)),
  );
  const series = sources.map((all) =>
    all.map((readings) => readings.map((one): Value => (one?.ok ? one.value : null))),
  );
  const countOf = (how: "majority" | "equal") =>
    answered.filter((all) => combine(all, spec.minSources, how).kind === "value").length;
  const samples = providers[0]?.samples.length ?? 0;
  const atSameTime = Array.from({ length: samples }, (_, at) => values.flatMap((one) => one[at] ?? []));
  return {
    samples,
    interval_seconds: intervalSeconds,
    readings: answered.length,
    with_value: values.flat().filter((value) => value !== null).length,
    character: characterOf(values, isNumber, isPlainText),
    steps: stepsOf(values),
    providers: providers.map(({ provider }, index) => ({
      provider,
      with_value: (values[index] ?? []).filter((value) => value !== null).length,
      steps: stepsOf([values[index] ?? []]),
    })),
    agreement: agreementOf(atSameTime, isNumber ? farthestFromMedian : () => Number.POSITIVE_INFINITY),
    source_agreement: agreementOf(
      answered.map((all) => all.flatMap((reading) => (reading.ok ? [reading.value] : []))),
      isNumber ? (all) => bpsBetween(...extremesOf(all)) : () => Number.POSITIVE_INFINITY,
    ),
    combinations: { majority: countOf("majority"), equal: countOf("equal") },
    tolerances: isNumber ? TOLERANCES.map((bps) => ({ bps, ...heldBy(BigInt(bps), atSameTime, values) })) : [],
    sources: sources.map((all, index): SourceAdvice => {
      const readings = all.flat().flatMap((one) => (one === null ? [] : [one]));
      return {
        name: nameOf(index),
        readings: readings.length,
        with_value: readings.filter(({ ok }) => ok).length,
        failures: countFailures(readings),
        steps: stepsOf(series[index] ?? []),
        follows: followsOf(index, series, isNumber, intervalSeconds),
      };
    }),
  };
}

function combinedOf(bound: BoundRequest, sample: readonly Reading<bigint>[] | null): Value {
  const combined = sample === null ? null : bound.combine(sample);
  return combined?.kind === "value" ? combined.value : null;
}

const nameOf = (index: number) => `/sources/${index}`;

/** JSON has no infinite numbers. */
const finite = (bps: number) => (Number.isFinite(bps) ? bps : null);

/** Returns the smallest and the largest of several values. */
function extremesOf(values: readonly bigint[]): [least: bigint, most: bigint] {
  const ascending = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return [ascending[0] ?? 0n, ascending.at(-1) ?? 0n];
}

/** Returns the values of neighbouring samples that both have one. */
function pairsOf(all: readonly Series[]): [bigint, bigint][] {
  return all.flatMap((values) =>
    values.slice(1).flatMap((value, index): [bigint, bigint][] => {
      const before = values[index] ?? null;
      return before === null || value === null ? [] : [[before, value]];
    }),
  );
}

/** Compares as the dataset does: |value - median| * 10,000 <= tolerance * median. */
const isWithin = (value: bigint, middle: bigint, toleranceBps: bigint) =>
  distance(value, middle) * 10_000n <= toleranceBps * middle;

const distance = (a: bigint, b: bigint) => (a < b ? b - a : a - b);

function heldBy(bps: bigint, atSameTime: readonly (readonly bigint[])[], values: readonly Series[]) {
  const isHeld = (all: readonly bigint[]) => all.every((value) => isWithin(value, median(all), bps));
  // With the smaller value as the median, which is the stricter test.
  const isStepHeld = ([least, most]: readonly [bigint, bigint]) => isWithin(most, least, bps);
  return {
    held: atSameTime.filter((all) => all.length > 1 && isHeld(all)).length,
    steps_held: pairsOf(values).map(extremesOf).filter(isStepHeld).length,
  };
}

/** Returns the largest distance from the median, in basis points of it. */
const farthestFromMedian = (values: readonly bigint[]) =>
  Math.max(...values.map((value) => bpsOf(distance(value, median(values)), median(values))));

/** Returns the distance in basis points of the smaller value, to three decimals; infinite between 0 and another number. */
function bpsBetween(a: bigint, b: bigint): number {
  const [least] = extremesOf([a, b]);
  return bpsOf(distance(a, b), least);
}

function bpsOf(part: bigint, whole: bigint): number {
  if (part === 0n) return 0;
  return whole === 0n ? Number.POSITIVE_INFINITY : Number((part * 10_000_000n) / whole) / 1_000;
}

function stepsOf(all: readonly Series[]): SpecAdvice["steps"] {
  const pairs = pairsOf(all);
  const distances = pairs.map(([a, b]) => bpsBetween(a, b)).toSorted((a, b) => a - b);
  return {
    count: pairs.length,
    changed: pairs.filter(([a, b]) => a !== b).length,
    largest_bps: finite(distances.at(-1) ?? 0),
    median_bps: finite(distances[Math.floor((distances.length - 1) / 2)] ?? 0),
  };
}

function characterOf(all: readonly Series[], isNumber: boolean, isPlainText: boolean): ValueBehaviour {
  const known = all.flat().flatMap((value) => value ?? []);
  if (known.length === 0) return "no value";
  const { changed, largest_bps: largest } = stepsOf(all);
  if (isNumber) {
    if (changed === 0) return "fixed number";
    return largest === null || largest > JUMP_BPS ? "jumping number" : "drifting number";
  }
  if (changed === 0) return "fixed word";
  const isNumeric = (value: bigint) =>
    /^-?\d+(?:\.\d+)?$/.test(hexToString(numberToHex(value, { size: 32 }), { size: 32 }));
  return isPlainText && known.every(isNumeric) ? "numeric word" : "changing word";
}

/** @param spread Returns how far apart several values are, in basis points. */
function agreementOf(
  values: readonly (readonly bigint[])[],
  spread: (all: readonly bigint[]) => number,
): SpecAdvice["agreement"] {
  const compared = values.filter(({ length }) => length > 1);
  return {
    compared: compared.length,
    equal: compared.filter((all) => all.every((value) => value === all[0])).length,
    farthest_bps: finite(Math.max(0, ...compared.map(spread))),
  };
}

function countFailures(readings: readonly Reading<bigint>[]): Record<string, number> {
  const failures = new Map<string, number>();
  for (const reading of readings) {
    if (!reading.ok) failures.set(reading.error.code, (failures.get(reading.error.code) ?? 0) + 1);
  }
  return Object.fromEntries(failures);
}

/** Finds the source that this one trails: their values are at least twice as close with a delay as without. */
function followsOf(
  index: number,
  series: readonly (readonly Series[])[],
  isNumber: boolean,
  intervalSeconds: number,
): SourceAdvice["follows"] {
  const own = series[index] ?? [];
  const apart = isNumber ? bpsBetween : (a: bigint, b: bigint) => (a === b ? 0 : 1);
  const maxDelay = Math.min(MAX_DELAY, Math.floor((own[0]?.length ?? 0) / 3));
  let best: SourceAdvice["follows"] = null;
  for (const [other, values] of series.entries()) {
    if (other === index) continue;
    const [now, ...delayed] = Array.from({ length: maxDelay + 1 }, (_, delay) =>
      meanDistance(own, values, delay, maxDelay, apart),
    );
    for (const [before, mean] of delayed.entries()) {
      if (now === undefined || now === null || mean === null || mean > now / 2 || now === 0) continue;
      if (!Number.isFinite(now) || (best !== null && best.delayed_distance <= mean)) continue;
      const seconds = (before + 1) * intervalSeconds;
      best = { name: nameOf(other), seconds, distance: now, delayed_distance: mean };
    }
  }
  return best;
}

/**
 * Returns how far a source is on average from what another source showed `delay` samples earlier at the same provider.
 *
 * @param from The first sample that is compared: the same for all delays, so that their means can be compared.
 */
function meanDistance(
  own: readonly Series[],
  other: readonly Series[],
  delay: number,
  from: number,
  apart: (a: bigint, b: bigint) => number,
): number | null {
  const distances = own.flatMap((values, provider) =>
    values.slice(from).flatMap((value, index) => {
      const earlier = other[provider]?.[from + index - delay] ?? null;
      return value === null || earlier === null ? [] : [apart(value, earlier)];
    }),
  );
  if (distances.length < 3) return null;
  return distances.reduce((sum, one) => sum + one, 0) / distances.length;
}
