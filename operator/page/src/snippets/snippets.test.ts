import type { DatasetOverview, ValueFormat } from "@dataset-oracle/protocol/http-schemas/overview";
import { stringToHex } from "viem";
import { expect, test } from "vitest";
import { snippets } from "./snippets.js";

const DATASET = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const LENS = "0x00000000000000000000000000000000000c0de1";
const SPOT: ValueFormat = { title: null, type: "uint", decimals: 18, unit: null, sources: [] };
const PRICES = { dataset: DATASET, name: "financial", kind: "median", key_form: "SPOT_PRICE" } as DatasetOverview;
const NUMBERS: DatasetOverview = { ...PRICES, key_form: "WEB_ORACLE" };
const BYTES: DatasetOverview = { ...NUMBERS, kind: "majority" };
const WEB = `WEB/${"ab".repeat(32)}`;

function textsOf(key: string, dataset = PRICES, lens: string | null = LENS, format: ValueFormat | null = SPOT) {
  const shown = snippets(key, { operator: "http://operator", networkId: 42, dataset, lens, format });
  return Object.fromEntries(shown.map(({ name, text }) => [name, text]));
}

test("a price is read with every tool, and without a lens by all that need none", () => {
  expect(Object.keys(textsOf("SPOTPX/ETH-USD"))).toEqual(["Solidity", "cast", "viem", "fresh", "curl"]);
  expect(Object.keys(textsOf("SPOTPX/ETH-USD", PRICES, null))).toEqual(["Solidity", "cast", "viem", "curl"]);
  expect(textsOf("0x1")).toEqual({});
});

test.each<[string, string, DatasetOverview, string]>([
  ["a price by its pair", "SPOTPX/ETH-USD", PRICES, 'querySpotPriceWithExpiry("ETH-USD"'],
  ["a number by its key", WEB, NUMBERS, `queryUintWithExpiry("${WEB}"`],
  ["bytes by their key", WEB, BYTES, `queryBytes32WithExpiry("${WEB}"`],
])("Solidity reads %s", (_, key, dataset, call) => {
  expect(textsOf(key, dataset).Solidity).toContain(`ORACLE.${call}, 10 minutes, msg.value)`);
  expect(textsOf(key, dataset).Solidity).toContain(`Oracle(${DATASET})`);
});

test.each<[string, DatasetOverview, ValueFormat | null, string]>([
  ["a scaled number", PRICES, SPOT, "formatUnits(value, 18)"],
  ["a whole number", NUMBERS, { ...SPOT, decimals: 0 }, "console.log(status, value,"],
  ["a number without a known scale", NUMBERS, null, "console.log(status, value,"],
  ["bytes", BYTES, null, "console.log(status, output,"],
])("JavaScript prints %s", (_, dataset, format, printed) => {
  const { viem, fresh } = textsOf(dataset === PRICES ? "SPOTPX/ETH-USD" : WEB, dataset, LENS, format);
  for (const text of [viem, fresh]) expect(text).toContain(printed);
  expect(fresh).toContain(`lens: "${LENS}"`);
});

test("no program holds a key that a shell would run: it is written in hex", () => {
  const key = `${WEB}/';touch x;'`;
  for (const text of Object.values(textsOf(key, NUMBERS))) {
    expect(text).not.toContain("touch");
    expect(text).toContain(stringToHex(key).slice(2));
  }
});
