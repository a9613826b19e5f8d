import type { DatasetOverview, ValueFormat } from "@dataset-oracle/protocol/http-schemas/overview";
import { type Hex, hexToBytes } from "viem";
import { formatAligned, formatExact, formatShort } from "./number";

/** A value, formatted for display. */
interface ShownValue {
  /** With all digits. */
  readonly exact: string;
  /** Shortened for tables. */
  readonly short: string;
  /** The quote currency of a pair, or the unit that the request spec states; null where there is none. */
  readonly unit: string | null;
}

/**
 * Formats a value with its scale and unit.
 *
 * @param value A decimal string for a median dataset, otherwise 32 bytes in hex.
 * @param key The key in ASCII; null if it is not printable.
 */
export function displayValue(
  kind: DatasetOverview["kind"],
  value: string,
  format: ValueFormat | null,
  key: string | null,
): ShownValue {
  if (format?.type === "bool") return plain(BigInt(value) === 0n ? "false" : "true");
  if (kind === "median" || format?.type === "uint") {
    const [number, decimals] = [BigInt(value), format?.decimals ?? 0];
    const unit = /^SPOTPX\/[A-Z0-9]+-([A-Z0-9]+)$/.exec(key ?? "")?.[1] ?? format?.unit ?? null;
    return { exact: formatExact(number, decimals), short: formatShort(number, decimals), unit };
  }
  if (format?.type === "string") return plain(textOf(value as Hex) ?? value);
  return { exact: value, short: `${value.slice(0, 10)}…${value.slice(-6)}`, unit: null };
}

/** Formats values of one key for a column, with all digits, and numbers with equally many decimals. */
export function alignedTexts(
  kind: DatasetOverview["kind"],
  values: readonly string[],
  format: ValueFormat | null,
  key: string | null,
): readonly string[] {
  return kind === "median"
    ? formatAligned(values.map(BigInt), format?.decimals ?? 0)
    : values.map((value) => displayValue(kind, value, format, key).exact);
}

const plain = (text: string): ShownValue => ({ exact: text, short: text, unit: null });

/** Decodes left-aligned text in 32 bytes; null if it is not UTF-8. */
function textOf(bytes32: Hex): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(hexToBytes(bytes32)).replace(/\0+$/, "");
  } catch {
    return null;
  }
}
