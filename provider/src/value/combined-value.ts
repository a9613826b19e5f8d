import { mostFrequent } from "@dataset-oracle/protocol/agreed-value";
import type { DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import type { SourceNote } from "@dataset-oracle/protocol/http-schemas/reports";
import type { Combination } from "@dataset-oracle/protocol/request-spec";
import { formatValue } from "@dataset-oracle/protocol/value-in-json";
import { isUnknown, type Reading, type SourceFailure } from "../source/source-failure.js";
import type { QuotedValue } from "../source/spot-source.js";

/**
 * Returns the middle value or, for an even count k, the lower of the two in the middle (index (k - 1) / 2, rounded
 * down), so that the result is always a value that a source gave. The contract computes its median in the same way.
 *
 * @throws When `values` is empty.
 */
export function median(values: readonly bigint[]): bigint {
  const ascending = values.toSorted((a, b) => Number(a - b));
  const middle = ascending[Math.floor((ascending.length - 1) / 2)];
  if (middle === undefined) throw new Error("An empty list has no median.");
  return middle;
}

/** The value that several sources yield together. */
export type CombinedValue =
  | { readonly kind: "value"; readonly value: bigint }
  /** Sources failed or disagreed, so there is no value now. */
  | { readonly kind: "none"; readonly reason: string }
  /** It is unknown which value there is, or whether there is one: sources that could change it were not asked or read. */
  | { readonly kind: "busy"; readonly retryAfter: number; readonly isOutage?: boolean };

/** The names of the outcomes in output for programs. */
export const OUTCOMES = { value: "OK", none: "NOT_AVAILABLE", busy: "BUSY" } as const;

/** No value is lower or higher. */
const BOUNDS = [0n, 2n ** 256n - 1n] as const;

/**
 * Tells whether the median of values is the same whatever so many more values are, or how many of them there are: it lies
 * between the two medians that they have when all of those are as low, or as high, as a value can be.
 *
 * @throws When `values` is empty.
 */
export const isMedianFixed = (values: readonly bigint[], unknown: number): boolean =>
  BOUNDS.every((bound) => median([...values, ...Array<bigint>(unknown).fill(bound)]) === median(values));

/**
 * Decides the outcome when there are too few values: `busy` when enough sources can be asked again later that there may
 * be a value then, else `none`.
 *
 * @param waits After how many seconds each source that may still have a value can be asked again.
 * @param missing How many more values are needed.
 */
export function outcomeOfTooFewValues(waits: readonly number[], missing: number, reason: string): CombinedValue {
  const retryAfter = waits.toSorted((a, b) => a - b)[missing - 1];
  return retryAfter === undefined ? { kind: "none", reason } : { kind: "busy", retryAfter: Math.ceil(retryAfter) };
}

/** Returns after how many seconds each source that may still have a value can be asked again. */
export const waitsOf = (failures: readonly SourceFailure[]): number[] =>
  failures.flatMap(({ retryAfter }) => retryAfter ?? []);

/** Returns the outcome when sources that were not asked could change the value: `busy` until all of them can be asked. */
export const outcomeOfOpenValue = (failures: readonly SourceFailure[]): CombinedValue => ({
  kind: "busy",
  retryAfter: Math.ceil(Math.max(...waitsOf(failures.filter(isUnknown)))),
});

/** The network failed, not the source, which may have a value. */
const isOutage = ({ code }: SourceFailure) => code === "unreachable" || code === "timeout";
/** After an outage, when to try again. */
const OUTAGE_SECONDS = 5;

/**
 * Makes one value of those of several sources, if it is the same whatever the sources that were not asked would have said.
 *
 * @param minSources How many sources must have answered.
 */
export function combine(readings: readonly Reading<bigint>[], minSources: number, how: Combination): CombinedValue {
  const values = readings.flatMap((reading) => (reading.ok ? [reading.value] : []));
  const failures = readings.flatMap((reading) => (reading.ok ? [] : [reading.error]));
  const outages = failures.filter(isOutage).map(() => OUTAGE_SECONDS);
  const [count, unknown] = [values.length, failures.filter(isUnknown).length];
  if (count < minSources) {
    const reason = `${count} of ${readings.length} sources answered, fewer than ${minSources}`;
    const [waits, missing] = [waitsOf(failures), minSources - count];
    const outcome = outcomeOfTooFewValues([...waits, ...outages], missing, reason);
    return { ...outcome, ...(outcome.kind === "busy" && waits.length < missing && { isOutage: true }) };
  }
  if (how === "median")
    return isMedianFixed(values, unknown) ? { kind: "value", value: median(values) } : outcomeOfOpenValue(failures);
  const value = mostFrequent(values) ?? 0n;
  const agreeing = values.filter((other) => other === value).length;
  const needed = (of: number) => (how === "equal" ? of : Math.floor(of / 2) + 1);
  if (agreeing >= needed(count + unknown)) return { kind: "value", value };
  // At best, all that are unknown agree too.
  const mayAgree = (more: number) => agreeing + more >= needed(count + more);
  if (mayAgree(unknown)) return outcomeOfOpenValue(failures);
  if (mayAgree(unknown + outages.length)) return { kind: "busy", retryAfter: OUTAGE_SECONDS, isOutage: true };
  return { kind: "none", reason: `${agreeing} of ${count} sources agree, fewer than ${needed(count)}` };
}

/** One source's part in a value. */
export interface SourceUse {
  readonly source: string;
  readonly quote: QuotedValue | null;
  /** Null when the quote was used. */
  readonly dropped: SourceFailure | null;
}

export const toUse = (source: string, reading: Reading<QuotedValue>): SourceUse =>
  reading.ok ? { source, quote: reading.value, dropped: null } : { source, quote: null, dropped: reading.error };

/** A value together with each source's part in it. */
export type ValueWithSources = CombinedValue & { readonly sources: readonly SourceUse[] };

/** An operator reads at most 16 KiB of an answer. */
const MAX_NOTES = 32;
const MAX_REASON = 100;
const MAX_TIME = BigInt(Number.MAX_SAFE_INTEGER);

/** Describes each source's part in a value, for the answer to a request for a report. */
export function describeSources(sources: readonly SourceUse[], kind: DatasetKind): SourceNote[] {
  return sources.slice(0, MAX_NOTES).map(({ source, quote, dropped }) => ({
    name: source,
    value: quote === null ? null : formatValue(kind, quote.value),
    // Null if it is unknown, or more than a JSON number can hold exactly.
    quote_time: quote?.quotedAt != null && quote.quotedAt <= MAX_TIME ? Number(quote.quotedAt) : null,
    used: dropped === null,
    reason: dropped && reasonOf(dropped),
  }));
}

/** Returns a reason, cut, in one line of printable ASCII: a source's text must not control the terminal. */
export const reasonOf = ({ code, detail }: SourceFailure) =>
  `${code}: ${detail}`.replace(/[^\x20-\x7e]/g, "?").slice(0, MAX_REASON);
