import type { Reading, SourceFailure } from "./source/source-failure.js";
import type { Quote } from "./source/spot-source.js";

/**
 * Returns the middle value or, for an even count k, the lower of the two in the middle (index (k - 1) / 2, rounded
 * down), so that the result is always a value that a source gave. The contract computes its median in the same way.
 *
 * @throws When `values` is empty.
 */
export function median(values: readonly bigint[]): bigint {
  const ascending = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
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
