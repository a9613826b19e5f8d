import type { CombinedValue } from "./combined-value.js";
import type { Reading, SourceFailure } from "./source/source-failure.js";
import type { Quote } from "./source/spot-source.js";

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
