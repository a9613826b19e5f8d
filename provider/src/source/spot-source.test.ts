import { describe, expect, it } from "vitest";
import { parseExactJson } from "./exact-json.js";
import { compileSpreadClamp } from "./spot-source.js";

const SHAPE = { type: "uint", decimals: 18, rounding: "half-even" } as const;
const E18 = 10n ** 18n;

/** Limits a price to a bid and an ask, given as JSON. Returns the price or the failure's code. */
function clamp(price: bigint, bid: string, ask: string): bigint | string {
  const compiled = compileSpreadClamp({ bid: "$['{name}'][0]", ask: "$['{name}'][1]" }, SHAPE, ["name"]);
  const document = parseExactJson(`{"a":[${bid},${ask}]}`);
  if (!compiled.ok || !document.ok) throw new Error("The paths or the document are wrong.");
  const reading = compiled.value({ name: "a" })(document.value, price);
  return reading.ok ? reading.value : reading.error.code;
}

describe("a price", () => {
  it("within the spread stays as it is", () => {
    expect(clamp(10n * E18, '"9"', '"11"')).toBe(10n * E18);
    expect(clamp(9n * E18, "9", "9.0")).toBe(9n * E18);
  });

  it("outside of the spread becomes its nearer end, with all digits", () => {
    expect(clamp(8n * E18, '"9.000000000000000001"', '"11"')).toBe(9n * E18 + 1n);
    expect(clamp(12n * E18, '"9"', "10.999999999999999999")).toBe(11n * E18 - 1n);
  });

  it("of 0 stays 0, because there was no trade", () => {
    expect(clamp(0n, '"9"', '"11"')).toBe(0n);
  });

  it.each([
    ["null", '"11"'],
    ['""', '"11"'],
    ['"9"', '"0.00"'],
    ['"9"', '"-1"'],
    ['"11"', '"10"'],
  ])("has no spread when the bid is %s and the ask %s", (bid, ask) => {
    expect(clamp(10n * E18, bid, ask)).toBe("no_spread");
  });
});

it("an invalid path is refused", () => {
  expect(compileSpreadClamp({ bid: "bid", ask: "$.ask" }, SHAPE, [])).toMatchObject({ ok: false });
  expect(compileSpreadClamp({ bid: "$.bid", ask: "$.{base}" }, SHAPE, [])).toMatchObject({ ok: false });
});
