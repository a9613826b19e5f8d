/** Formats numbers and values. A dataset's value is never converted to a float; only percentages are. */

import type { DatasetOverview, ValueFormat } from "@dataset-oracle/protocol/http-schemas/overview";
import { formatUnits, type Hex, hexToBytes } from "viem";

const grouped = (whole: string) => BigInt(whole).toLocaleString("en");

/** Formats a scaled number with all digits, and commas between thousands: `12,345.678`. */
export function formatExact(value: bigint, decimals: number): string {
  const [whole = "", fraction] = formatUnits(value, decimals).split(".");
  return fraction === undefined ? grouped(whole) : `${grouped(whole)}.${fraction}`;
}

/** Rounds to six digits, half up, with at least two decimals if the number can have any. */
export function formatShort(value: bigint, decimals: number): string {
  // The number of digits before the point; -2 for 0.0012.
  const magnitude = value === 0n ? 4 : value.toString().length - decimals;
  const wanted = 6 - (magnitude > 0 ? magnitude : magnitude + 1);
  const kept = Math.min(decimals, Math.max(2, wanted));
  const step = 10n ** BigInt(decimals - kept);
  const [whole = "", fraction = ""] = formatUnits((value + step / 2n) / step, kept).split(".");
  return kept > 0 ? `${grouped(whole)}.${fraction.padEnd(kept, "0")}` : grouped(whole);
}

/**
 * Formats the difference of a value from another one in per cent, with three decimals: `+0.012%`.
 *
 * @returns Null if the other value is 0.
 */
export function formatDeviation(value: bigint, from: bigint): string | null {
  if (from === 0n) return null;
  const perCent = Number(formatUnits(((value - from) * 10n ** 8n) / from, 6));
  const text = perCent.toLocaleString("en", {
    minimumFractionDigits: 3,
    maximumFractionDigits: 3,
    signDisplay: "exceptZero",
  });
  return `${text.replace("-", "−")}%`;
}

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
  const texts = values.map((value) => displayValue(kind, value, format, key).exact);
  if (kind !== "median") return texts;
  const decimalsOf = (text: string) => text.split(".")[1]?.length ?? 0;
  const most = Math.max(0, ...texts.map(decimalsOf));
  return texts.map((text) => {
    const missing = most - decimalsOf(text);
    return missing > 0 && missing === most ? `${text}.${"0".repeat(most)}` : text + "0".repeat(missing);
  });
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
