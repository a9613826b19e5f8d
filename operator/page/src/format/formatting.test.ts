/** How values, keys and times are written. */

import type { ValueFormat } from "@dataset-oracle/protocol/http-schemas/overview";
import { describe, expect, test } from "vitest";
import { datasetName, splitKey } from "./names.js";
import { formatDuration } from "./time.js";
import { displayValue, formatDeviation, formatNumber } from "./values.js";

const SPOT: ValueFormat = { title: null, type: "uint", decimals: 18, unit: null, sources: [] };
const HASH = "ab".repeat(32);

test.each([
  [66_944_320_000_000_000_000_000n, 18, "66,944.32"],
  [522_830_000_000_000_000n, 18, "0.52283"],
  [24_710_000_000_000n, 18, "0.00002471"],
  [99_999_999_999_999_999_999_999n, 18, "99,999.999999999999999999"],
  [0n, 18, "0.00"],
  [3_021_500_000_000_000_000_000n, 18, "3,021.50"],
  [29_731n, 2, "297.31"],
  [25n, 1, "2.5"],
  [29_731n, 0, "29,731"],
])(
  "%s scaled by 10^%s is %s: all digits, and at least two decimals where it can have them",
  (value, decimals, text) => {
    expect(formatNumber(value, decimals)).toBe(text);
  },
);

test.each([
  [1_001n, 1_000n, "+0.100%"],
  [999n, 1_000n, "−0.100%"],
  [1_000n, 1_000n, "0.000%"],
  [3_000n, 1_000n, "+200.000%"],
  [1n, 0n, null],
])("%s deviates from %s by %s", (value, from, text) => {
  expect(formatDeviation(value, from)).toBe(text);
});

describe("values", () => {
  const word = (hex: string) => `0x${hex.padEnd(64, "0")}`;

  test("of a pair have its quote as their unit, and of a request spec the unit and the scale that it states", () => {
    const dollars = { text: "3,021.50", unit: "USD" };
    expect(displayValue("median", "3021500000000000000000", SPOT, "SPOTPX/ETH-USD")).toEqual(dollars);
    const kelvin: ValueFormat = { ...SPOT, decimals: 2, unit: "K" };
    const shown = { text: "297.31", unit: "K" };
    expect(displayValue("median", "29731", kelvin, `WEB/${HASH}/London`)).toEqual(shown);
  });

  test.each([
    ["string", word("636c656172"), "clear"],
    ["string", word("c3a9"), "é"],
    ["string", word("ff"), word("ff")],
    ["bool", `0x${"0".repeat(63)}1`, "true"],
    ["bool", word(""), "false"],
    ["bytes32", `0x${HASH}`, `0x${HASH}`],
  ] as const)("of the type %s: %s is %s", (type, value, text) => {
    expect(displayValue("majority", value, { ...SPOT, type, decimals: 0 }, null).text).toBe(text);
  });

  test("of an unknown format are what is stored", () => {
    expect(displayValue("median", "12345", null, null).text).toBe("12,345");
    expect(displayValue("majority", `0x${HASH}`, null, null).text).toBe(`0x${HASH}`);
  });
});

test.each([
  ["SPOTPX/ETH-USD", "SPOTPX/", "ETH-USD"],
  [`WEB/${HASH}/S%C3%A3o%20Paulo/7`, "WEB/ababab…abab", "São Paulo, 7"],
  [`WEB/${HASH}`, "WEB/ababab…abab", ""],
  [`WEB/${HASH}/%FF`, "WEB/ababab…abab", "%FF"],
  ["0x00ff", "", "0x00ff"],
])("the key %s has the prefix %s and the name %s", (text, prefix, name) => {
  expect(splitKey(text)).toMatchObject({ prefix, name });
});

test.each([
  ["webOracleNumber", "Web Oracle number"],
  ["my-own_dataset", "My own dataset"],
  ["0x5FbDB2315678afecb367f032d93F642f64180aa3", "0x5FbD…0aa3"],
])("the dataset %s is shown as %s", (name, shown) => {
  expect(datasetName(name)).toBe(shown);
});

test.each([
  [0, "0 s"],
  [119, "119 s"],
  [120, "2 min"],
  [7_199, "119 min"],
  [7_200, "2 h"],
  [12_000, "3 h 20 min"],
  [187_200, "2 d 4 h"],
])("%s seconds are %s", (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text);
});
