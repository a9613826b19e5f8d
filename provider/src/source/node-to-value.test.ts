import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import fc from "fast-check";
import { keccak256, stringToBytes, stringToHex } from "viem";
import { describe, expect, test } from "vitest";
import { parseExactJson } from "./exact-json.js";
import { nodeToValue, type ValueShape } from "./node-to-value.js";

function value(json: string, shape: ValueShape) {
  const document = parseExactJson(json);
  if (!document.ok) throw new Error(document.error.detail);
  const result = nodeToValue(document.value, shape);
  return result.ok ? result.value : result.error.code;
}

const PRICE = { type: "uint", decimals: 18, rounding: "half-even" } as const;
const DATE = { type: "uint", decimals: 0, rounding: "truncate", format: "iso8601" } as const;
const BOOL = { type: "bool" } as const;
const BYTES32 = { type: "bytes32" } as const;
const STRING = { type: "string", hash: false } as const;
const HASHED = { type: "string", hash: true } as const;

test.each<[what: string, shape: ValueShape, code: string, nodes: string[]]>([
  ["number", PRICE, "not_a_number", ["null", "true", "{}", '["1"]', '""', '"-"']],
  ["date", DATE, "not_a_date", ["1767225600", '"1767225600"', "null", "{}", '"2026-01-31"', '"31.01.2026"']],
  ["date with an offset", DATE, "not_a_date", ["2026-01-31T12:00:00", "2026-01-31 12:00:00Z"].map((at) => `"${at}"`)],
  [
    "date in ISO 8601's extended form",
    DATE,
    "not_a_date",
    [
      "T12:00:00+0100",
      "t12:00:00Z",
      "T12:00:00z",
      "T12Z",
      "T12:00.5Z",
      "T12:00:00,5Z",
      "T12:00:00Z ",
      "T12:00:00Z\\n",
    ].map((time) => `"2026-01-31${time}"`),
  ],
  [
    "date of the calendar",
    DATE,
    "not_a_date",
    ["02-30T00:00Z", "13-01T00:00Z", "01-01T24:00Z", "12-31T23:59:60Z", "01-01T00:00+24:00", "01-01T00:00+01:60"].map(
      (date) => `"2026-${date}"`,
    ),
  ],
  ["date since 1970", DATE, "negative", ['"1969-12-31T23:59:59.9Z"', '"1970-01-01T00:00:00+00:01"']],
  ["bool", BOOL, "not_a_bool", ["1", "0", '"true"', "null", "{}", "[true]"]],
  ["bytes32 without 0x", BYTES32, "not_bytes32", ["1", '""', '"0x"', `"${"a".repeat(64)}"`, `"0X${"a".repeat(64)}"`]],
  ["bytes32 of another length", BYTES32, "not_bytes32", [63, 65].map((length) => `"0x${"a".repeat(length)}"`)],
  ["bytes32", BYTES32, "not_bytes32", [`"0x${"g".repeat(64)}"`, `"0x${"a".repeat(64)}\\n"`]],
  ["string", STRING, "not_a_string", ["1", "true", "null", "{}", '["a"]']],
  // A zero byte would be lost.
  ["string of whole characters that are not zero", STRING, "not_a_string", ['"a\\u0000"', '"\\ud83d"']],
  ["string to hash", HASHED, "not_a_string", ['"\\ud83d"']],
  ["string of at most 32 bytes", STRING, "string_too_long", [`"${"€".repeat(11)}"`, `"${"x".repeat(33)}"`]],
])("what is no %s is refused", (_, shape, code, nodes) => {
  for (const node of nodes) expect(value(node, shape), node).toBe(code);
});

describe("the guide's table of what can be read", () => {
  const guide = readFileSync(join(ROOT, "docs/WebOracle.md"), "utf8");
  const shapes: Record<string, ValueShape> = { uint: PRICE, "uint with format": DATE, bool: BOOL, string: STRING };
  const rows = [...guide.matchAll(/^\| `(uint|bool|string)`(?: with `(format)`)? \| (.+) \| (.+) \|$/gm)];
  const nodesIn = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, node = ""]) => node);

  test.each(Object.entries(shapes))("is right about %s", (name, shape) => {
    const [, , , read = "", not = ""] =
      rows.find(([, type, format]) => name === (format ? `${type} with ${format}` : type)) ?? [];
    for (const node of nodesIn(read)) expect(value(node, shape), node).toBeTypeOf("bigint");
    for (const node of nodesIn(not)) expect(value(node, shape), node).toBeTypeOf("string");
    expect(Math.min(nodesIn(read).length, nodesIn(not).length)).toBeGreaterThan(0);
  });
});

describe("a value", () => {
  test.each<[json: string, shape: ValueShape, expected: bigint]>([
    ['"5174.22"', PRICE, 5_174_220_000_000_000_000_000n],
    ["5174.22", PRICE, 5_174_220_000_000_000_000_000n],
    ['"1970-01-01T00:00:00Z"', DATE, 0n],
    ['"2024-02-29T12:00:00.999Z"', DATE, 1_709_208_000n],
    ['"2024-02-29T12:00:00.999Z"', { ...DATE, rounding: "half-even" }, 1_709_208_001n],
    ['"2024-02-29T12:00:00.999Z"', { ...DATE, decimals: 3 }, 1_709_208_000_999n],
    ['"2024-02-29T13:30+01:30"', DATE, 1_709_208_000n],
    ["true", BOOL, 1n],
    ["false", BOOL, 0n],
    [`"0x${"aB".repeat(32)}"`, BYTES32, BigInt(`0x${"ab".repeat(32)}`)],
    [`"0x${"0".repeat(64)}"`, BYTES32, 0n],
  ])("is taken from %s", (json, shape, expected) => {
    expect(value(json, shape)).toBe(expected);
  });

  test("is a date's time, wherever it was written", () => {
    const milliseconds = fc.integer({ min: 0, max: 253_402_300_799_999 });
    fc.assert(
      fc.property(milliseconds, fc.integer({ min: -1_439, max: 1_439 }), (time, offset) => {
        const local = new Date(time + offset * 60_000);
        fc.pre(local.getTime() >= 0 && local.getUTCFullYear() <= 9_999);
        const two = (number: number) => String(Math.floor(number)).padStart(2, "0");
        const [sign, size] = [offset < 0 ? "-" : "+", Math.abs(offset)];
        const text = `${local.toISOString().slice(0, -1)}${sign}${two(size / 60)}:${two(size % 60)}`;
        expect(value(JSON.stringify(text), { ...DATE, decimals: 3 })).toBe(BigInt(time));
      }),
    );
  });

  test.each(["", "a", "Bayern", "ä€🎲", `${"€".repeat(10)}xx`, "x".repeat(32)])(
    "is a string of at most 32 bytes at the left of them: %s",
    (text) => {
      expect(value(JSON.stringify(text), STRING)).toBe(BigInt(stringToHex(text, { size: 32 })));
    },
  );

  test.each(["", "x".repeat(33), "ä".repeat(10_000)])("is the hash of a string of any length", (text) => {
    expect(value(JSON.stringify(text), HASHED)).toBe(BigInt(keccak256(stringToBytes(text))));
  });
});
