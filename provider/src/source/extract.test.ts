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
  if (!document.ok) throw new Error(document.error.detail);
  const errorPath = errorAt === undefined ? null : path(errorAt);
  const shape = { type: "uint", decimals: 18, rounding: "half-even" } as const;
  const codes = new Map([["Slow down", "throttled" as const]]);
  const extraction = { path: path(at), errors: { path: errorPath, codes }, shape };
  const result = extractValue(extraction, document.value);
  return result.ok ? result.value : result.error.code;
}

describe("a value is taken from exactly one node", () => {
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

  it("the inner members of a kept number are not part of the document", () => {
    expect(extract('{"price":5}', "$.price.value")).toBe("no_node");
    expect(extract('{"price":5}', "$.price.*")).toBe("no_node");
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
