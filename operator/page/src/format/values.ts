/** Formats numbers and values. A dataset's value is never converted to a float; only percentages are. */

import type { DatasetOverview, ValueFormat } from "@dataset-oracle/protocol/http-schemas/overview";
import { formatUnits, type Hex, hexToBytes } from "viem";

const grouped = (whole: string) => BigInt(whole).toLocaleString("en");

/** Formats a scaled number with all digits, at least two decimals if it can have any: `12,345.60`. */
export function formatNumber(value: bigint, decimals = 0): string {
  const [whole = "", fraction = ""] = formatUnits(value, decimals).split(".");
  return decimals === 0 ? grouped(whole) : `${grouped(whole)}.${fraction.padEnd(Math.min(decimals, 2), "0")}`;
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
export interface ShownValue {
  readonly text: string;
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
    return { text: formatNumber(number, decimals), unit };
  }
  if (format?.type === "string") return plain(textOf(value as Hex) ?? value);
  return plain(value);
}

const plain = (text: string): ShownValue => ({ text, unit: null });

/** Decodes left-aligned text in 32 bytes; null if it is not UTF-8. */
function textOf(bytes32: Hex): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(hexToBytes(bytes32)).replace(/\0+$/, "");
  } catch {
    return null;
  }
}
