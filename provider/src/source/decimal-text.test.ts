import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareDecimals, MAX_VALUE, scaleDecimal } from "./decimal-text.js";

const E18 = 10n ** 18n;

function value(text: string, decimals = 18) {
  const result = scaleDecimal(text, decimals, "half-even");
  return result.ok ? result.value : result.error.code;
}

test.each<[text: string, expected: bigint]>([
  // Through a float this one became 5174220000000000131072.
  ["5174.22", 5_174_220_000_000_000_000_000n],
  ["1E+3", 1_000n * E18],
  ["-0.00", 0n],
  ["0e99999999999999999999", 0n],
])("decimal text becomes an integer exactly: %s", (text, expected) => {
  expect(value(text)).toBe(expected);
});

test.each<[text: string, halfEven: bigint, truncated: bigint]>([
  ["0.0000000000000000015", 2n, 1n],
  ["0.00000000000000000250000000000000000000000000001", 3n, 2n],
  ["0.0000000000000000005", 0n, 0n],
  ["1e-99999999999999999999", 0n, 0n],
])(
  "decimals beyond those kept are rounded to the nearest, ties to even, or cut off: %s",
  (text, halfEven, truncated) => {
    expect(scaleDecimal(text, 18, "half-even")).toEqual({ ok: true, value: halfEven });
    expect(scaleDecimal(text, 18, "truncate")).toEqual({ ok: true, value: truncated });
  },
);

describe("what is refused", () => {
  test("is a number that does not fit into 208 bits once scaled, and the largest that fits is not", () => {
    expect(value(MAX_VALUE.toString(), 0)).toBe(MAX_VALUE);
    for (const text of [(MAX_VALUE + 1n).toString(), "1e400", "1e99999999999999999999"]) {
      expect(value(text, 0)).toBe("number_too_large");
    }
  });

  test("is text that is not a number as JSON writes it", () => {
    const texts = ["", "1 ", " 1", "+1", ".5", "5.", "1,5", "1_000", "0x10", "01", "1e", "NaN", "Infinity", "١", "1\n"];
    expect(texts.map((text) => value(text))).toEqual(texts.map(() => "not_a_number"));
  });

  test("is text of more than 256 characters", () => {
    expect(value(`0.${"0".repeat(254)}`)).toBe(0n);
    expect(value(`0.${"0".repeat(255)}`)).toBe("not_a_number");
  });
});

describe("any number", () => {
  const digits = (maxLength: number) => fc.string({ unit: fc.constantFrom(..."0123456789"), minLength: 1, maxLength });
  const number = fc
    .record({
      sign: fc.constantFrom("", "", "", "-"),
      whole: digits(30).map((text) => text.replace(/^0+(?=\d)/, "")),
      fraction: fc.option(digits(40), { nil: null }),
      exponent: fc.option(fc.integer({ min: -90, max: 90 }), { nil: null }),
    })
    .map((parts) => ({
      ...parts,
      text: `${parts.sign}${parts.whole}${parts.fraction === null ? "" : `.${parts.fraction}`}${parts.exponent === null ? "" : `e${parts.exponent}`}`,
    }));

  /** The number times 10^decimals as a fraction of two integers. */
  function rational(
    parts: { sign: string; whole: string; fraction: string | null; exponent: number | null },
    decimals: number,
  ) {
    let [numerator, denominator] = [BigInt(parts.whole), 1n];
    for (const digit of parts.fraction ?? "") {
      numerator = numerator * 10n + BigInt(digit);
      denominator *= 10n;
    }
    const power = (parts.exponent ?? 0) + decimals;
    if (power >= 0) numerator *= 10n ** BigInt(power);
    else denominator *= 10n ** BigInt(-power);
    return { numerator: parts.sign === "-" ? -numerator : numerator, denominator };
  }

  test("is scaled as rational arithmetic has it", () => {
    fc.assert(
      fc.property(number, fc.integer({ min: 0, max: 62 }), (parts, decimals) => {
        const { numerator, denominator } = rational(parts, decimals);
        const floor = numerator / denominator;
        const rest = numerator - floor * denominator;
        const isUp = 2n * rest > denominator || (2n * rest === denominator && (floor & 1n) === 1n);
        for (const [rounding, expected] of [
          ["truncate", floor],
          ["half-even", isUp ? floor + 1n : floor],
        ] as const) {
          const reading = scaleDecimal(parts.text, decimals, rounding);
          if (numerator < 0n) expect(reading).toMatchObject({ error: { code: "negative" } });
          else if (expected > MAX_VALUE) expect(reading).toMatchObject({ error: { code: "number_too_large" } });
          else expect(reading).toEqual({ ok: true, value: expected });
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test("is compared as rational arithmetic has it", () => {
    fc.assert(
      fc.property(number, number, (left, right) => {
        const [a, b] = [rational(left, 0), rational(right, 0)];
        const difference = a.numerator * b.denominator - b.numerator * a.denominator;
        expect(Math.sign(compareDecimals(left.text, right.text))).toBe(
          difference === 0n ? 0 : difference > 0n ? 1 : -1,
        );
        expect(compareDecimals(left.text, left.text)).toBe(0);
      }),
      { numRuns: 2_000 },
    );
    // A float cannot tell these exponents apart.
    expect(compareDecimals("1e9007199254740993", "1e9007199254740992")).toBe(1);
  });
});
