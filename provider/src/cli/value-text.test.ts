import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import type { ValueWithSources } from "../value/combined-value.js";
import { printable, valueToText } from "./value-text.js";

const E18 = 10n ** 18n;
const AT = 1_800_000_000n;

const PRICE: ValueWithSources = {
  kind: "value",
  value: 2_000n * E18 + E18 / 4n,
  sources: [
    { source: "kraken", quote: { value: 2_000n * E18 + E18 / 4n, quotedAt: null }, dropped: null },
    {
      source: "okx",
      quote: { value: 9n * E18, quotedAt: AT - 12n },
      dropped: { code: "outlier", detail: "lies far off" },
    },
    { source: "coinbase", quote: null, dropped: { code: "source_error", detail: "says: \u001b[2Jgone" } },
  ],
};

/** Writes a price as it is without a terminal, wherever the test runs. */
const textOf = (value: ValueWithSources) =>
  stripVTControlCharacters(valueToText({ key: { kind: "spot_price", name: "SPOTPX/ETH-USD" }, value, at: AT }));

describe("the text of a price", () => {
  test("shows each source's price, age and use, and the median, and passes no control character on", () => {
    expect(textOf(PRICE).split("\n")).toEqual([
      "SPOTPX/ETH-USD",
      "",
      "kraken: 2000.25",
      "okx: 9, 12 s old, outlier: lies far off",
      "coinbase: source_error: says: ?[2Jgone",
      "",
      "value: 2000.25, from 1 of 3 sources",
    ]);
  });
});

test("text from outside has no character that could steer a terminal", () => {
  expect(printable("\u001b[31ma\n\tb\u202e\u{e0001}")).toBe("\\u{1b}[31ma\n\tb\\u{202e}\\u{e0001}");
});
