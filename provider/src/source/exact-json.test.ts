import fc from "fast-check";
import { LosslessNumber } from "lossless-json";
import { expect, test } from "vitest";
import { plainJson } from "../../test/support/plain-json.js";
import { digitsOf, isNumber, type Json, parseExactJson } from "./exact-json.js";

const NONE = Symbol("no JSON");
function parseNatively(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return NONE;
  }
}

/** Texts that are almost JSON. */
const PIECES = [..."\"\\{}[],:01-+.eE'/ \t\n\r\v\u00a0\ufeff\u2028\u0000\u001f\ud800", "null", "NaN", "//", "\\u12"];

test("accepts exactly what JSON.parse accepts, except for objects with a duplicate member", () => {
  const change = fc.record({
    at: fc.nat(),
    removed: fc.integer({ min: 0, max: 2 }),
    piece: fc.constantFrom("", ...PIECES),
  });
  const json = fc.oneof(
    fc.json(),
    fc.json().map((text) => JSON.stringify(JSON.parse(text), null, 1)),
  );
  const check = fc.property(json, fc.array(change, { maxLength: 3 }), (valid, changes) => {
    let text = valid;
    for (const { at, removed, piece } of changes) {
      const from = at % (text.length + 1);
      text = text.slice(0, from) + piece + text.slice(from + removed);
    }
    const document = parseExactJson(text);
    if (!document.ok && document.error.detail.includes("Duplicate key")) return;
    expect(document.ok ? plainJson(document.value) : NONE).toEqual(parseNatively(text));
  });
  fc.assert(check, { numRuns: 3_000 });
});

test("keeps all digits of a number", () => {
  expect(parseExactJson("[100.10,1e400,0.12345678901234567890]")).toEqual({
    ok: true,
    value: ["100.10", "1e400", "0.12345678901234567890"].map((text) => new LosslessNumber(text)),
  });
});

test("reads a document the same whether or not it is formatted as by JSON.stringify", () => {
  const digits = (node: Json): unknown =>
    isNumber(node)
      ? { digits: digitsOf(node) }
      : typeof node === "object" && node !== null
        ? Object.entries(node).map(([name, member]) => [name, digits(member)])
        : node;
  const read = (text: string) => {
    const document = parseExactJson(text);
    return document.ok ? digits(document.value) : document.error.code;
  };
  const check = fc.property(fc.json(), (text) => {
    expect(read(JSON.stringify(JSON.parse(text)))).toEqual(read(`${text} `));
  });
  fc.assert(check, { numRuns: 1_000 });
});

test("reads 256 arrays and objects within each other, and no more, whatever strings contain", () => {
  const nested = (depth: number) => `${'{"[\\\\\\"{":['.repeat(depth / 2)}"]]"${"]}".repeat(depth / 2)}`;
  expect(parseExactJson(nested(256)).ok).toBe(true);
  expect(parseExactJson(nested(258))).toMatchObject({ error: { detail: expect.stringContaining("more than 256") } });
});

test.each(["[".repeat(200_000), "[".repeat(200_000) + "]".repeat(200_000)])(
  "does not fall over a deep document",
  (text) => {
    expect(parseExactJson(text)).toMatchObject({ ok: false, error: { code: "not_json" } });
  },
);
