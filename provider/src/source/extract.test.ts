import { describe, expect, it } from "vitest";
import { parseExactJson } from "./exact-json.js";
import { extract as extractValue } from "./extract.js";
import { compileJsonPath } from "./json-path.js";

function path(text: string) {
  const compiled = compileJsonPath(text);
  if (!compiled.ok) throw new Error(compiled.error);
  return compiled.value.bind({});
}

/** The value at a path of a JSON text, scaled by 10^18, or the failure's code. */
function extract(json: string, at: string, errorAt?: string) {
  const document = parseExactJson(json);
  if (!document.ok) return document.error.code;
  const errorPath = errorAt === undefined ? null : path(errorAt);
  const shape = { type: "uint", decimals: 18, rounding: "half-even" } as const;
  const codes = new Map([["Slow down", "throttled" as const]]);
  const extraction = { path: path(at), errors: { path: errorPath, codes }, shape };
  const result = extractValue(extraction, document.value);
  return result.ok ? result.value : result.error.code;
}

describe("a value is taken from exactly one node", () => {
  it("a number keeps all of its digits", () => {
    expect(extract('{"price":5174.22}', "$.price")).toBe(5_174_220_000_000_000_000_000n);
    expect(extract('{"price":0.123456789012345678}', "$.price")).toBe(123_456_789_012_345_678n);
    expect(extract('{"price":1e400}', "$.price")).toBe("number_too_large");
  });

  it("a string is read like a number", () => {
    expect(extract('{"price":"5174.22"}', "$.price")).toBe(5_174_220_000_000_000_000_000n);
  });

  it("a path that matches nothing is a failure and never 0", () => {
    expect(extract('{"price":"1"}', "$.prize")).toBe("no_node");
    expect(extract('{"a":[]}', "$.a[0]")).toBe("no_node");
    expect(extract('{"a":{"toString":"1"}}', "$.a.constructor")).toBe("no_node");
    expect(extract("[1]", "$.length")).toBe("no_node");
  });

  it("a path that matches several nodes is a failure, even when they are equal", () => {
    expect(extract('{"a":["1","1"]}', "$.a[*]")).toBe("several_nodes");
  });

  it("a wildcard over one member is that member", () => {
    expect(extract('{"result":{"XETHZUSD":{"c":["2000.10","0.01"]}}}', "$.result.*.c[0]")).toBe(
      2_000_100_000_000_000_000_000n,
    );
  });

  it("a filter may choose it, by a number too", () => {
    const json = '{"tickers":[{"id":1,"p":"7"},{"id":2,"p":"8"}]}';
    expect(extract(json, "$.tickers[?@.id == 2].p")).toBe(8n * 10n ** 18n);
    expect(extract(json, "$.tickers[?@.id > 2].p")).toBe("no_node");
  });

  for (const node of ["null", "true", "{}", '["1"]', '""', '"-"']) {
    it(`what is no number is a failure: ${node}`, () => {
      expect(extract(`{"price":${node}}`, "$.price")).toBe("not_a_number");
    });
  }

  it("the inner members of a kept number are not part of the document", () => {
    expect(extract('{"price":5}', "$.price.value")).toBe("no_node");
    expect(extract('{"price":5}', "$.price.*")).toBe("no_node");
  });

  it("a negative price is a failure", () => {
    expect(extract('{"price":-1.5}', "$.price")).toBe("negative");
  });
});

describe("a source's own error", () => {
  it("is a failure, although there is a value too", () => {
    expect(extract('{"error":["EService:Busy"],"p":"1"}', "$.p", "$.error[*]")).toBe("source_error");
  });

  it("can say that the source's rate limit is used up", () => {
    expect(extract('{"error":["Slow down"]}', "$.p", "$.error[*]")).toBe("throttled");
  });

  it("is none when its place is empty", () => {
    expect(extract('{"error":[],"p":"1"}', "$.p", "$.error[*]")).toBe(10n ** 18n);
  });
});

describe("what is not JSON", () => {
  const texts = ["", "<html>", '{"price":"1"', '{"price":01}', '{"price":NaN}', '{"price":1}x', "[".repeat(100_000)];
  for (const text of texts) {
    it(`is a failure: ${text.slice(0, 20)}`, () => {
      expect(extract(text, "$.price")).toBe("not_json");
    });
  }

  it("is a failure also when a member is there twice with different values", () => {
    expect(extract('{"price":"1","price":"2"}', "$.price")).toBe("not_json");
  });
});
