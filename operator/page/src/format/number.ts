/** Formats numbers exactly: a dataset's value is never converted to a float. */

/** Formats a scaled number as a plain decimal: `3021.5`. */
export function toDecimal(value: bigint, decimals: number): string {
  const sign = value < 0n ? "-" : "";
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return sign + whole + (fraction && `.${fraction}`);
}

/** Adds commas between thousands: `12,345.678`. */
export function grouped(decimal: string): string {
  const [whole = "", fraction] = decimal.split(".");
  const spaced = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? spaced : `${spaced}.${fraction}`;
}

/** Rounds to six digits, half up, with at least two decimals if the number can have any. */
export function atAGlance(value: bigint, decimals: number): string {
  // The number of digits before the point; -2 for 0.0012.
  const magnitude = value === 0n ? 4 : (value < 0n ? -value : value).toString().length - decimals;
  const wanted = 6 - (magnitude > 0 ? magnitude : magnitude + 1);
  const kept = Math.min(decimals, Math.max(2, wanted));
  const step = 10n ** BigInt(decimals - kept);
  const rounded = (value + (value < 0n ? -step : step) / 2n) / step;
  const [whole = "", fraction = ""] = toDecimal(rounded, kept).split(".");
  return grouped(kept > 0 ? `${whole}.${fraction.padEnd(kept, "0")}` : whole);
}

/**
 * Formats the difference of a value from another one in per cent, with three decimals: `+0.012 %`.
 *
 * @returns Null if the other value is 0.
 */
export function deviation(value: bigint, from: bigint): string | null {
  if (from === 0n) return null;
  const difference = value - from;
  const thousandths = (2n * 100_000n * (difference < 0n ? -difference : difference) + from) / (2n * from);
  const sign = difference === 0n ? "" : difference < 0n ? "−" : "+";
  const text = thousandths.toString().padStart(4, "0");
  return `${sign}${text.slice(0, -3)}.${text.slice(-3)} %`;
}
