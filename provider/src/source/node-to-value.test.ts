import { keccak256, stringToBytes, stringToHex } from "viem";
import { describe, expect, it } from "vitest";
import { parseExactJson } from "./exact-json.js";
import { nodeToValue, type ValueShape } from "./node-to-value.js";

function value(json: string, shape: ValueShape) {
  const document = parseExactJson(json);
  if (!document.ok) throw new Error(document.error.detail);
  const result = nodeToValue(document.value, shape);
  return result.ok ? result.value : result.error.code;
}

const PRICE = { type: "uint", decimals: 18, rounding: "half-even" } as const;
const BOOL = { type: "bool" } as const;
const BYTES32 = { type: "bytes32" } as const;
const STRING = { type: "string", hash: false } as const;
const HASHED = { type: "string", hash: true } as const;

it.each<[what: string, shape: ValueShape, code: string, nodes: string[]]>([
  ["number", PRICE, "not_a_number", ["null", "true", "{}", '["1"]', '""', '"-"']],
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

describe("a value", () => {
  it.each<[json: string, shape: ValueShape, expected: bigint]>([
    ['"5174.22"', PRICE, 5_174_220_000_000_000_000_000n],
    ["5174.22", PRICE, 5_174_220_000_000_000_000_000n],
    ["true", BOOL, 1n],
    ["false", BOOL, 0n],
    [`"0x${"aB".repeat(32)}"`, BYTES32, BigInt(`0x${"ab".repeat(32)}`)],
    [`"0x${"0".repeat(64)}"`, BYTES32, 0n],
  ])("is taken from %s", (json, shape, expected) => {
    expect(value(json, shape)).toBe(expected);
  });

  it.each(["", "a", "Bayern", "ä€🎲", `${"€".repeat(10)}xx`, "x".repeat(32)])(
    "is a string of at most 32 bytes at the left of them: %s",
    (text) => {
      expect(value(JSON.stringify(text), STRING)).toBe(BigInt(stringToHex(text, { size: 32 })));
    },
  );

  it.each(["", "x".repeat(33), "ä".repeat(10_000)])("is the hash of a string of any length", (text) => {
    expect(value(JSON.stringify(text), HASHED)).toBe(BigInt(keccak256(stringToBytes(text))));
  });
});
