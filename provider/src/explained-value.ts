import type { FailureCode, Reading } from "./source/reading.js";
import type { Quote } from "./source/spot-source.js";

/** Why a source's value was not used: a failure of the source, or the policy. */
export type DropReason = FailureCode | "too_old" | "from_the_future" | "outlier";

/** One source's part in a value. */
export interface SourceUse {
  readonly source: string;
  readonly quote: Quote | null;
  /** Null when the quote was used. */
  readonly dropped: { readonly reason: DropReason; readonly detail: string } | null;
}

/** The value that several sources yield together. */
export type Combined =
  | { readonly kind: "value"; readonly value: bigint }
  /** Sources failed or disagreed, so there is no value now. */
  | { readonly kind: "none"; readonly reason: string }
  /** It is unknown if there is a value, because sources that could decide it are at their rate limit. */
  | { readonly kind: "busy"; readonly retryAfter: number };

/** A value together with each source's part in it. */
export type ExplainedValue = Combined & { readonly sources: readonly SourceUse[] };

/**
 * Tells what too few values mean: `busy` when so many sources can be asked again later that there may be a value then,
 * else `none`.
 *
 * @param missing How many more values are needed.
 */
export function withoutValue(readings: readonly Reading<unknown>[], missing: number, reason: string): Combined {
  const waits = readings.flatMap((reading) => (reading.ok ? [] : (reading.error.retryAfter ?? [])));
  const retryAfter = waits.toSorted((a, b) => a - b)[missing - 1];
  return retryAfter === undefined ? { kind: "none", reason } : { kind: "busy", retryAfter: Math.ceil(retryAfter) };
}
