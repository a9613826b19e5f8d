/** Formats numbers. A dataset's value is never converted to a float; only percentages are. */

import { formatUnits } from "viem";

const grouped = (whole: string) => BigInt(whole).toLocaleString("en");

/** Formats a scaled number with all digits, and commas between thousands: `12,345.678`. */
export function formatExact(value: bigint, decimals: number): string {
  const [whole = "", fraction] = formatUnits(value, decimals).split(".");
  return fraction === undefined ? grouped(whole) : `${grouped(whole)}.${fraction}`;
}

/** Formats scaled numbers with all digits, and all with equally many decimals, for a column. */
export function formatAligned(values: readonly bigint[], decimals: number): readonly string[] {
  const texts = values.map((value) => formatExact(value, decimals).split("."));
  const longest = Math.max(0, ...texts.map(([, fraction = ""]) => fraction.length));
  return texts.map(([whole, fraction = ""]) =>
    longest === 0 ? `${whole}` : `${whole}.${fraction.padEnd(longest, "0")}`,
  );
}

/** Rounds to six digits, half up, with at least two decimals if the number can have any. */
export const formatShort = (value: bigint, decimals: number) =>
  formatRounded(value, decimals, shortDecimals(value, decimals));

/** Returns how many decimals `formatShort` shows. */
export function shortDecimals(value: bigint, decimals: number): number {
  // The number of digits before the point; -2 for 0.0012.
  const magnitude = value === 0n ? 4 : value.toString().length - decimals;
  const wanted = 6 - (magnitude > 0 ? magnitude : magnitude + 1);
  return Math.min(decimals, Math.max(2, wanted));
}

/** Rounds to a number of decimals, half up. @param kept At most `decimals`. */
export function formatRounded(value: bigint, decimals: number, kept: number): string {
  const step = 10n ** BigInt(decimals - kept);
  const [whole = "", fraction = ""] = formatUnits((value + step / 2n) / step, kept).split(".");
  return kept > 0 ? `${grouped(whole)}.${fraction.padEnd(kept, "0")}` : grouped(whole);
}

/**
 * Formats the difference of a value from another one in per cent, with three decimals: `+0.012 %`.
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
  return `${text.replace("-", "−")} %`;
}
