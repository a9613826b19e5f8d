import type { Rounding } from "@dataset-oracle/protocol/request-spec";
import { ok } from "@dataset-oracle/protocol/result";
import { failed, type Reading } from "./source-failure.js";

/** The largest value that a median dataset stores: 208 bits. */
export const MAX_VALUE = 2n ** 208n - 1n;

const MAX_VALUE_DIGITS = MAX_VALUE.toString().length;

/** Longer than any price; it bounds the work on hostile text. */
const MAX_TEXT = 256;

/** JSON's grammar for numbers. */
const NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Scales decimal text to an integer. No digit passes through a float.
 *
 * @param text A number as JSON writes it, for example `5174.22` or `1.5e-3`.
 * @param decimals The result is the number times 10^decimals.
 * @returns 0 to 2^208 - 1, or one of the failures `not_a_number`, `negative` and `number_too_large`.
 */
export function scaleDecimal(text: string, decimals: number, rounding: Rounding): Reading<bigint> {
  if (text.length > MAX_TEXT) return failed("not_a_number", `has ${text.length} characters, more than ${MAX_TEXT}`);
  const match = NUMBER.exec(text);
  if (match === null) return failed("not_a_number", `${JSON.stringify(text)} is not a decimal number`);
  const [, sign, whole = "", fraction = "", exponent = "0"] = match;
  const digits = (whole + fraction).replace(/^0+/, "");
  if (digits === "") return ok(0n);
  if (sign === "-") return failed("negative", `${text} is negative`);
  // An exponent too large for an exact float is beyond both bounds below anyway.
  const places = Number(exponent) - fraction.length + decimals;
  if (digits.length + places > MAX_VALUE_DIGITS) return tooLarge(text);
  const value = places >= 0 ? BigInt(digits) * 10n ** BigInt(places) : divide(digits, -places, rounding);
  return value > MAX_VALUE ? tooLarge(text) : ok(value);
}

/** Divides the number that the digits spell by 10^places. */
function divide(digits: string, places: number, rounding: Rounding): bigint {
  // The quotient is below 0.1 and rounds to 0; computing the power of ten could take for ever.
  if (places > digits.length) return 0n;
  const divisor = 10n ** BigInt(places);
  const number = BigInt(digits);
  return rounding === "truncate" ? number / divisor : divideHalfEven(number, divisor);
}

/** Divides two numbers that are not negative, rounding to the nearest and ties to even. */
export function divideHalfEven(number: bigint, divisor: bigint): bigint {
  const quotient = number / divisor;
  const twice = (number % divisor) * 2n;
  return twice > divisor || (twice === divisor && quotient % 2n === 1n) ? quotient + 1n : quotient;
}

const tooLarge = (text: string) => failed("number_too_large", `${text} has more than 208 bits once scaled`);

/** Compares two numbers as JSON writes them: negative when the first is smaller, 0 when they are equal. */
export function compareDecimals(left: string, right: string): number {
  const [one, other] = [normalize(left), normalize(right)];
  if (one.sign !== other.sign) return one.sign - other.sign;
  if (one.magnitude !== other.magnitude) return one.magnitude > other.magnitude ? one.sign : -one.sign;
  if (one.digits === other.digits) return 0;
  return one.digits > other.digits ? one.sign : -one.sign;
}

/** Splits a number into its sign, its digits without zeros at either end, and the exponent of 0.<digits> * 10^x. */
function normalize(text: string): { sign: number; digits: string; magnitude: bigint } {
  const [, minus, whole = "", fraction = "", exponent = "0"] = NUMBER.exec(text) ?? [];
  const written = whole + fraction;
  const digits = written.replace(/^0+/, "");
  if (digits === "") return { sign: 0, digits: "", magnitude: 0n };
  const magnitude = BigInt(exponent.replace("+", "")) + BigInt(whole.length - (written.length - digits.length));
  return { sign: minus === "-" ? -1 : 1, digits: trimZeros(digits), magnitude };
}

/** Removes zeros at the end. The regular expression /0+$/ would take quadratic time on a hostile text. */
function trimZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === "0") --end;
  return digits.slice(0, end);
}
