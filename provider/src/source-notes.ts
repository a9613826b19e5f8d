import type { DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import type { SourceNote } from "@dataset-oracle/protocol/http-schemas/reports";
import { formatValue } from "@dataset-oracle/protocol/value-in-json";
import type { SourceUse } from "./combined-value.js";
import type { SourceFailure } from "./source/source-failure.js";

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
export function quoteTimeOf(quote: SourceUse["quote"]): number | null {
  const time = quote?.quotedAt ?? null;
  return time === null || time > BigInt(Number.MAX_SAFE_INTEGER) ? null : Number(time);
}

/** Returns a reason, cut, in one line of printable ASCII: a source's text must not control the terminal. */
export const reasonOf = ({ code, detail }: SourceFailure) =>
  `${code}: ${detail}`.replace(/[^\x20-\x7e]/g, "?").slice(0, MAX_REASON);
