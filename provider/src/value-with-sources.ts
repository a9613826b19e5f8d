import type { CombinedValue } from "./combined-value.js";
import type { FailureCode, Reading, SourceFailure } from "./source/source-failure.js";
import type { Quote } from "./source/spot-source.js";

/** The reasons for not using a source's value: failures of the source, and those of the policy. */
export type DropReason = FailureCode | "too_old" | "from_the_future" | "outlier";

export interface Drop extends Omit<SourceFailure, "code"> {
  readonly code: DropReason;
}

/** One source's part in a value. */
export interface SourceUse {
  readonly source: string;
  readonly quote: Quote | null;
  /** Null when the quote was used. */
  readonly dropped: Drop | null;
}

export const toUse = (source: string, reading: Reading<Quote>): SourceUse =>
  reading.ok ? { source, quote: reading.value, dropped: null } : { source, quote: null, dropped: reading.error };

/** A value together with each source's part in it. */
export type ValueWithSources = CombinedValue & { readonly sources: readonly SourceUse[] };
