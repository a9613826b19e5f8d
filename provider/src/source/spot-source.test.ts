import { readFileSync } from "node:fs";
import { join } from "node:path";
import { formatUnits } from "viem";
import { describe, expect, test } from "vitest";
import { parseExactJson } from "./exact-json.js";
import { SHIPPED_SOURCES } from "./load-sources.js";
import { compileSpotSource } from "./spot-source.js";

const E18 = 10n ** 18n;

/** The shipped file of Coinbase, with these places of the bid and the ask. */
function compile(spread: { bid: string; ask: string }) {
  const file = readFileSync(join(SHIPPED_SOURCES, "coinbase.json"), "utf8");
  return compileSpotSource({ ...JSON.parse(file), path: "$[0]", spread, quoteTime: undefined });
}

/** Limits a price to a bid and an ask, given as JSON. Returns the price or the failure's code. */
function clamp(price: bigint, bid: string, ask: string): bigint | string {
  const source = compile({ bid: "$[1]", ask: "$[2]" });
  const document = parseExactJson(`["${formatUnits(price, 18)}",${bid},${ask}]`);
  const query = source.ok ? source.value.queries.get("ETH-USD") : undefined;
  if (query === undefined || !document.ok) throw new Error("The paths or the document are wrong.");
  const reading = query.read(document.value);
  return reading.ok ? reading.value.value : reading.error.code;
}

describe("a price", () => {
  test("within the spread stays as it is", () => {
    expect(clamp(10n * E18, '"9"', '"11"')).toBe(10n * E18);
    expect(clamp(9n * E18, "9", "9.0")).toBe(9n * E18);
  });

  test("outside of the spread becomes its nearer end, with all digits", () => {
    expect(clamp(8n * E18, '"9.000000000000000001"', '"11"')).toBe(9n * E18 + 1n);
    expect(clamp(12n * E18, '"9"', "10.999999999999999999")).toBe(11n * E18 - 1n);
  });

  test("of 0 stays 0, because there was no trade", () => {
    expect(clamp(0n, '"9"', '"11"')).toBe(0n);
  });

  test.each([
    ["null", '"11"'],
    ['""', '"11"'],
    ['"9"', '"0.00"'],
    ['"9"', '"-1"'],
    ['"11"', '"10"'],
  ])("has no spread when the bid is %s and the ask %s", (bid, ask) => {
    expect(clamp(10n * E18, bid, ask)).toBe("no_spread");
  });
});
