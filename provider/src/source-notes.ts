import type { DatasetKind, SourceNote } from "@dataset-oracle/protocol/wire";
import { numberToHex } from "viem";
import type { SourceUse } from "./spot-price.js";
import type { WebAnswer } from "./web-oracle/web-oracle.js";

/** An operator reads at most 16 KiB of an answer. */
const MAX_NOTES = 32;
const MAX_REASON = 100;

/** What became of the sources, as the answer to a request for a report tells it. */
export function toNotes(sources: readonly SourceUse[]): SourceNote[] {
  return sources.slice(0, MAX_NOTES).map(({ source, quote, dropped }) => ({
    name: source,
    value: quote === null ? null : quote.price.toString(),
    quote_time: toSeconds(quote?.quotedAt ?? null),
    used: dropped === null,
    reason: dropped === null ? null : plain(`${dropped.reason}: ${dropped.detail}`),
  }));
}

/** The same of a Web Oracle key, whose sources' values are all combined. */
export function toWebNotes(answers: readonly WebAnswer[], kind: DatasetKind): SourceNote[] {
  const shown = (value: bigint) => (kind === "median" ? value.toString() : numberToHex(value, { size: 32 }));
  return answers.slice(0, MAX_NOTES).map(({ source, reading }) => ({
    name: source,
    value: reading.ok ? shown(reading.value) : null,
    quote_time: null,
    used: reading.ok,
    reason: reading.ok ? null : plain(`${reading.failure}: ${reading.detail}`),
  }));
}

/** A source may claim any time, far beyond what JSON's readers keep exact. */
const toSeconds = (time: bigint | null) =>
  time === null || time > BigInt(Number.MAX_SAFE_INTEGER) ? null : Number(time);

const plain = (text: string) => text.replace(/[^\x20-\x7e]/g, "?").slice(0, MAX_REASON);
