import type { DatasetOverview, ValueFormat } from "@dataset-oracle/protocol/wire-data";
import { atAGlance, grouped, toDecimal } from "./number";

/** A value, formatted for display. */
export interface ShownValue {
  /** With all digits. */
  readonly exact: string;
  /** Shortened for tables. */
  readonly short: string;
  /** The quote currency of a pair; null for other keys. */
  readonly unit: string | null;
}

type Kind = DatasetOverview["kind"];

/**
 * Formats a value with its scale and unit.
 *
 * @param value A decimal string for a median dataset, otherwise 32 bytes in hex.
 * @param key The key in ASCII; null if it is not printable.
 */
export function showValue(kind: Kind, value: string, format: ValueFormat | null, key: string | null): ShownValue {
  if (kind === "median") {
    if (format?.type === "bool") return plain(value === "0" ? "false" : "true");
    const decimals = format?.decimals ?? 0;
    const number = BigInt(value);
    return { exact: grouped(toDecimal(number, decimals)), short: atAGlance(number, decimals), unit: unitOf(key) };
  }
  if (format?.type === "bool") return plain(BigInt(value) === 0n ? "false" : "true");
  if (format?.type === "string") return plain(textOf(value) ?? value);
  if (format?.type === "uint") return showValue("median", BigInt(value).toString(), format, key);
  return { exact: value, short: `${value.slice(0, 10)}…${value.slice(-6)}`, unit: null };
}

const plain = (text: string): ShownValue => ({ exact: text, short: text, unit: null });

/** Returns the quote currency of a pair. */
export function unitOf(key: string | null): string | null {
  return /^SPOTPX\/[A-Z0-9]+-([A-Z0-9]+)$/.exec(key ?? "")?.[1] ?? null;
}

/** Decodes left-aligned text in 32 bytes; null if it is not UTF-8. */
function textOf(bytes32: string): string | null {
  const bytes = Uint8Array.from(bytes32.slice(2).match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
  const end = bytes.findLastIndex((byte) => byte !== 0) + 1;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, end));
  } catch {
    return null;
  }
}
