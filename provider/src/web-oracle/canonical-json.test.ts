import { MAX_SPEC_BYTES } from "@dataset-oracle/protocol/spec-hash";
import fc from "fast-check";
import { type Hex, hexToString, stringToHex } from "viem";
import { describe, expect, test } from "vitest";
import { parseCanonicalSpec, toCanonicalJson } from "./canonical-json.js";

const textOf = (value: unknown) => {
  const bytes = toCanonicalJson(value);
  return bytes.ok ? hexToString(bytes.value) : bytes.error;
};

describe("canonical JSON", () => {
  test("is RFC 8785's", () => {
    expect(textOf({ b: [1, true, null], a: { "\u20ac": "€\n", z: "/" } })).toBe(
      '{"a":{"z":"/","€":"€\\n"},"b":[1,true,null]}',
    );
    expect(textOf([333333333.3333333, 1e30, 4.5, 2e-3, 1e-27, -0])).toBe("[333333333.3333333,1e+30,4.5,0.002,1e-27,0]");
    // By UTF-16 code units: a surrogate sorts before U+FB33.
    expect(textOf({ "\ufb33": 1, "😀": 2, "\r": 3 })).toBe('{"\\r":3,"😀":2,"\ufb33":1}');
  });

  test("is parsed back to the same value, whatever JSON that is", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const bytes = toCanonicalJson(value);
        fc.pre(bytes.ok);
        // JSON has no minus zero.
        expect(parseCanonicalSpec(bytes.value)).toEqual({ ok: true, value: JSON.parse(JSON.stringify(value)) });
      }),
    );
  });

  test("is the same for every way to write a value, and no other way is read", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })),
        fc.integer({ min: 0, max: 2 }),
        (value, indent) => {
          const reversed = Object.fromEntries(Object.entries(value).reverse());
          const canonical = toCanonicalJson(value);
          expect(toCanonicalJson(reversed)).toEqual(canonical);
          fc.pre(canonical.ok);
          const other = stringToHex(JSON.stringify(reversed, null, indent));
          expect(parseCanonicalSpec(other).ok).toBe(other === canonical.value);
        },
      ),
    );
  });

  test.each<[string, string | Hex]>([
    ["a space", '{"a": 1}'],
    ["a line's end", '{"a":1}\n'],
    ["properties out of order", '{"b":1,"a":1}'],
    ["a property twice", '{"a":1,"a":1}'],
    ["an escape that is not needed", '{"a":"\\u0041"}'],
    ["a number with a needless zero", '{"a":1.0}'],
    ["minus zero", '{"a":-0}'],
    ["a number that a double does not have", '{"a":12345678901234567890}'],
    ["half of a surrogate pair", '{"a":"\\ud800"}'],
    ["a byte order mark", "0xefbbbf7b7d"],
    ["bytes that are no UTF-8", "0x22c0af22"],
  ])("does not have %s", (_, text) => {
    const bytes = text.startsWith("0x") ? (text as Hex) : stringToHex(text);
    expect(parseCanonicalSpec(bytes).ok).toBe(false);
  });

  test("has at most 8,192 bytes", () => {
    expect(toCanonicalJson("x".repeat(MAX_SPEC_BYTES - 2)).ok).toBe(true);
    expect(textOf("é".repeat(MAX_SPEC_BYTES / 2))).toContain("has 8194 bytes");
  });

  test("is refused when it is nested as deeply as its length allows, without a stack overflow", () => {
    const deep = stringToHex("[".repeat(MAX_SPEC_BYTES / 2) + "]".repeat(MAX_SPEC_BYTES / 2));
    expect(() => parseCanonicalSpec(deep)).not.toThrow();
  });
});
