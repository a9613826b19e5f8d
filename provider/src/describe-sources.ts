import type { DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import type { SourceNote } from "@dataset-oracle/protocol/http-schemas/reports";
import { formatValue } from "@dataset-oracle/protocol/value-in-json";
import type { Drop, SourceUse } from "./value-with-sources.js";

/** An operator reads at most 16 KiB of an answer. */
const MAX_NOTES = 32;
const MAX_REASON = 100;

/** Describes each source's part in a value, for the answer to a request for a report. */
export function describeSources(sources: readonly SourceUse[], kind: DatasetKind): SourceNote[] {
  return sources.slice(0, MAX_NOTES).map(({ source, quote, dropped }) => ({
    name: source,
    value: quote === null ? null : formatValue(kind, quote.value),
    quote_time: toSeconds(quote?.quotedAt ?? null),
    used: dropped === null,
    reason: dropped && reasonOf(dropped),
  }));
}

/** A source may claim any time, even one that a JSON number cannot hold exactly. */
const toSeconds = (time: bigint | null) =>
  time === null || time > BigInt(Number.MAX_SAFE_INTEGER) ? null : Number(time);

/** Returns a reason in printable ASCII, because a source's text must not control the terminal, and cuts it. */
export const reasonOf = ({ code, detail }: Drop) =>
  `${code}: ${detail}`.replace(/[^\x20-\x7e]/g, "?").slice(0, MAX_REASON);
