import { mostFrequent } from "@dataset-oracle/protocol/agreed-value";
import type { DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import type { SourceNote } from "@dataset-oracle/protocol/http-schemas/reports";
import type { Combination } from "@dataset-oracle/protocol/request-spec";
import { formatValue } from "@dataset-oracle/protocol/value-in-json";
import type { Reading, SourceFailure } from "./source/source-failure.js";
import type { Quote } from "./source/spot-source.js";

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
  /** It is unknown whether there is a value: sources that could decide it are at their rate limit, or were not read. */
  | { readonly kind: "busy"; readonly retryAfter: number };

/** The names of the outcomes in output for programs. */
export const OUTCOMES = { value: "OK", none: "NOT_AVAILABLE", busy: "BUSY" } as const;

/**
 * Decides the outcome when there are too few values: `busy` when enough sources can be asked again later that there may
 * be a value then, else `none`.
 *
 * @param waits After how many seconds each source at its rate limit can be asked again.
 * @param missing How many more values are needed.
 */
export function outcomeOfTooFewValues(waits: readonly number[], missing: number, reason: string): CombinedValue {
  const retryAfter = waits.toSorted((a, b) => a - b)[missing - 1];
  return retryAfter === undefined ? { kind: "none", reason } : { kind: "busy", retryAfter: Math.ceil(retryAfter) };
}

/**
 * Makes one value of those of several sources.
 *
 * @param minSources How many sources must have answered.
 */
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

/** One source's part in a value. */
export interface SourceUse {
  readonly source: string;
  readonly quote: Quote | null;
  /** Null when the quote was used. */
  readonly dropped: SourceFailure | null;
}

export const toUse = (source: string, reading: Reading<Quote>): SourceUse =>
  reading.ok ? { source, quote: reading.value, dropped: null } : { source, quote: null, dropped: reading.error };

/** A value together with each source's part in it. */
export type ValueWithSources = CombinedValue & { readonly sources: readonly SourceUse[] };

/** An operator reads at most 16 KiB of an answer. */
const MAX_NOTES = 32;
const MAX_REASON = 100;

/** Describes each source's part in a value, for the answer to a request for a report. */
export function describeSources(sources: readonly SourceUse[], kind: DatasetKind): SourceNote[] {
  return sources.slice(0, MAX_NOTES).map(({ source, quote, dropped }) => ({
    name: source,
    value: quote === null ? null : formatValue(kind, quote.value),
    quote_time: quoteTimeOf(quote),
    used: dropped === null,
    reason: dropped && reasonOf(dropped),
  }));
}

/** Returns the time of a quote; null if it is unknown, or more than a JSON number can hold exactly. */
function quoteTimeOf(quote: SourceUse["quote"]): number | null {
  const time = quote?.quotedAt ?? null;
  return time === null || time > BigInt(Number.MAX_SAFE_INTEGER) ? null : Number(time);
}

/** Returns a reason, cut, in one line of printable ASCII: a source's text must not control the terminal. */
export const reasonOf = ({ code, detail }: SourceFailure) =>
  `${code}: ${detail}`.replace(/[^\x20-\x7e]/g, "?").slice(0, MAX_REASON);
