import { expect, test } from "vitest";
import { formatSpotPrice } from "./format-spot-price.js";

const E18 = 10n ** 18n;

test("a scaled price is written as decimal text, without zeros at its end", () => {
  const cases: [bigint, string][] = [
    [0n, "0"],
    [1n, "0.000000000000000001"],
    [E18, "1"],
    [100n * E18, "100"],
    [5_174_220_000_000_000_000_000n, "5174.22"],
  ];
  for (const [price, text] of cases) expect(formatSpotPrice(price)).toBe(text);
});
