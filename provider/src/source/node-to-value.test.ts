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

describe("a number", () => {
  const price = { type: "uint", decimals: 18, rounding: "half-even" } as const;

  it("may be in a string", () => {
    expect(value('"5174.22"', price)).toBe(5_174_220_000_000_000_000_000n);
  });

  it("is nothing else", () => {
    for (const json of ["null", "true", "{}", '["1"]', '""', '"-"']) {
      expect(value(json, price), json).toBe("not_a_number");
    }
  });
});

describe("a bool", () => {
  it("is 1 or 0, of true or false and of nothing else", () => {
    expect(value("true", { type: "bool" })).toBe(1n);
    expect(value("false", { type: "bool" })).toBe(0n);
    for (const json of ["1", "0", '"true"', "null", "{}", "[true]"]) {
      expect(value(json, { type: "bool" }), json).toBe("not_a_bool");
    }
  });
});

describe("a bytes32", () => {
  it("is 0x and 64 hex digits, of either case", () => {
    expect(value(`"0x${"aB".repeat(32)}"`, { type: "bytes32" })).toBe(BigInt(`0x${"ab".repeat(32)}`));
    expect(value(`"0x${"0".repeat(64)}"`, { type: "bytes32" })).toBe(0n);
  });

  it("is of no other length or form", () => {
    const texts = [
      `0x${"a".repeat(63)}`,
      `0x${"a".repeat(65)}`,
      "a".repeat(64),
      `0X${"a".repeat(64)}`,
      "0x",
      "",
      `0x${"g".repeat(64)}`,
      `0x${"a".repeat(64)}\n`,
    ];
    for (const text of texts) expect(value(JSON.stringify(text), { type: "bytes32" }), text).toBe("not_bytes32");
    expect(value("1", { type: "bytes32" })).toBe("not_bytes32");
  });
});

describe("a string", () => {
  const plain = { type: "string", hash: false } as const;
  const hashed = { type: "string", hash: true } as const;

  it("of at most 32 bytes stands at the left of them", () => {
    for (const text of ["", "a", "Bayern", "ä€🎲", "x".repeat(32)]) {
      expect(value(JSON.stringify(text), plain), text).toBe(BigInt(stringToHex(text, { size: 32 })));
    }
  });

  it("is counted in bytes of UTF-8", () => {
    expect(value(`"${"€".repeat(10)}xx"`, plain)).toBe(BigInt(stringToHex(`${"€".repeat(10)}xx`)));
    expect(value(`"${"€".repeat(11)}"`, plain)).toBe("string_too_long");
    expect(value(`"${"x".repeat(33)}"`, plain)).toBe("string_too_long");
  });

  it("may be of any length where its hash is asked for", () => {
    for (const text of ["", "x".repeat(33), "ä".repeat(10_000)]) {
      expect(value(JSON.stringify(text), hashed)).toBe(BigInt(keccak256(stringToBytes(text))));
    }
  });

  it("has no zero byte, which would be lost, and no half of a character", () => {
    expect(value('"a\\u0000"', plain)).toBe("not_a_string");
    for (const shape of [plain, hashed]) expect(value('"\\ud83d"', shape)).toBe("not_a_string");
  });

  it("is no number, boolean or null", () => {
    for (const json of ["1", "true", "null", "{}", '["a"]']) expect(value(json, plain), json).toBe("not_a_string");
  });
});
