import { describe, expect, it } from "vitest";
import type { ValueWithSources } from "../combined-value.js";
import { type Style, styleOf, valueToText } from "./value-text.js";

const PLAIN = styleOf({ isTTY: false }, {});
const COLORED = styleOf({ isTTY: true }, {});
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

const priceToTable = (name: string, value: ValueWithSources, at: bigint, style: Style) =>
  valueToText({ key: { kind: "spot_price", name }, value, at }, style);

describe("the table", () => {
  it("shows each source's price, age and use, and the median", () => {
    expect(priceToTable("SPOTPX/ETH-USD", PRICE, AT, PLAIN).split("\n")).toEqual(
      [
        "SPOTPX/ETH-USD",
        "source    price     age   use",
        "kraken    2000.25     -  used",
        "okx          9     12 s  outlier: lies far off",
        "coinbase     -        -  source_error: says: ?[2Jgone",
        "",
        "median 2000.25 (1 of 3 sources used)",
      ].map((line) =>
        expect.stringMatching(new RegExp(`^${line.replace(/[.?[\]()]/g, "\\$&").replace(/ +/g, " +")}$`)),
      ),
    );
  });

  it("has colours only where they are wanted, and passes no control character on", () => {
    const escapes = (text: string) => [...text].filter((character) => character === "\u001b").length;
    expect(escapes(priceToTable("SPOTPX/ETH-USD", PRICE, AT, PLAIN))).toBe(0);
    expect(escapes(priceToTable("SPOTPX/ETH-USD", PRICE, AT, COLORED))).toBeGreaterThan(4);
    expect(priceToTable("SPOTPX/ETH-USD", PRICE, AT, COLORED)).not.toContain("\u001b[2J");
  });

  it("says why there is no price", () => {
    const { sources } = PRICE;
    expect(
      priceToTable("K", { kind: "none", reason: "only 1 of 3 sources can be used", sources }, AT, PLAIN),
    ).toContain("no price: only 1 of 3 sources can be used");
    expect(priceToTable("K", { kind: "busy", retryAfter: 7, sources }, AT, PLAIN)).toContain("try again in 7 s");
  });
});
