import { ok } from "@dataset-oracle/protocol/result";
import { describe, expect, test } from "vitest";
import { failed } from "../source/source-failure.js";
import { compileSpec } from "./compile-spec.js";
import { extractValues, MAX_KEY_STEPS, MAX_KEY_TEXT } from "./extract-values.js";

const source = { method: "GET", url: "https://api.example.com/", type: "uint", decimals: 0, rounding: "truncate" };

/** Extracts from as many sources as there are texts, each with the same paths; null for one that did not answer. */
function extract(texts: readonly (string | null)[], paths: object) {
  const sources = texts.map(() => ({ ...source, ...paths }));
  const spec = { title: "a", variables: [], sources, minSources: 1, combine: "median" };
  const compiled = compileSpec(spec);
  if (!compiled.ok) throw new Error(compiled.error);
  const request = compiled.value.bind([]);
  if (!request.ok) throw new Error(request.error);
  const answers = texts.map((text) => (text === null ? failed("timeout", "timed out") : ok({ text })));
  const { readings, steps } = extractValues(request.value.sources, answers);
  const codes = readings.map((reading) => (reading.ok ? reading.value : reading.error.code));
  return { codes, steps };
}

test("finds the value of each source that answered, and what it is made from", () => {
  const { codes, steps } = extract(['{"a":{"b":7}}', null, '{"a":{"b":"12.9"}}'], { path: "$.a.b" });
  expect(codes).toEqual([7n, "timeout", 12n]);
  expect(steps).toBeGreaterThan(0);
});

describe("the limits of extraction", () => {
  const numbers = (count: number) => `[${Array(count).fill(1).join(",")}]`;
  /** Takes a step for each number, and finds nothing. */
  const COSTLY = { path: "$[?@ > 2]" };

  describe("the steps of a key", () => {
    test("are shared by its sources, and by the two paths of each", () => {
      const { codes, steps } = extract(Array(8).fill(numbers(50_000)), COSTLY);
      expect(codes).toEqual(Array(8).fill("path_too_costly"));
      expect(steps).toBeLessThanOrEqual(MAX_KEY_STEPS);
      // Each of the two paths alone would not be too costly.
      const half = numbers(Math.floor(MAX_KEY_STEPS / 8));
      expect(extract([half], COSTLY).codes).toEqual(["no_node"]);
      expect(extract([half], { path: COSTLY.path, errorPath: COSTLY.path }).codes).toEqual(["path_too_costly"]);
    });

    test("do not depend on which other sources answered", () => {
      const document = numbers(20_000);
      const [alone] = extract([document, null, null, null, null, null, null, null], COSTLY).codes;
      const [together] = extract(Array(8).fill(document), COSTLY).codes;
      expect([alone, together]).toEqual(["path_too_costly", "path_too_costly"]);
      expect(extract([document], COSTLY).codes).toEqual(["no_node"]);
    });
  });

  test("a source that answers more than its share of text is not read, whatever the others answered", () => {
    const share = MAX_KEY_TEXT / 4;
    const text = (length: number) => `{"a":7,"b":"${"x".repeat(length - 14)}"}`;
    const { codes } = extract([text(share), text(share + 1), null, "{"], { path: "$.a" });
    expect(codes).toEqual([7n, "too_large", "timeout", "not_json"]);
  });
});
