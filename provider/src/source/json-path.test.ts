import { describe, expect, it } from "vitest";
import { compileJsonPath } from "./json-path.js";

describe("a source's JSONPath", () => {
  for (const path of [
    "$",
    "$.price",
    "$['a..b']",
    '$["a..b"]',
    "$.a[0]",
    "$.a[*].b",
    "$.a[?@.s == '..'].p",
    "$.a[?length(@.s) > 1]",
  ]) {
    it(`may be ${path}`, () => {
      expect(compileJsonPath(path)).toMatchObject({ ok: true });
    });
  }

  for (const path of ["$..price", "$.a..b", "$.a[?@..b]", "$.a[?count(@..b) > 1]", "$['x']..['y']"]) {
    it(`may not have a descendant segment: ${path}`, () => {
      expect(compileJsonPath(path)).toMatchObject({
        ok: false,
        error: expect.stringContaining('".." is not allowed'),
      });
    });
  }

  for (const name of ["match", "search"]) {
    it(`may not call ${name}, whose cost a regular expression decides`, () => {
      expect(compileJsonPath(`$.a[?${name}(@.s, '(a+)+')]`)).toMatchObject({
        ok: false,
        error: expect.stringContaining("not a JSONPath that can be used here"),
      });
    });
  }

  for (const path of ["", "price", "$.", "$.a[", " $.a", "$.a "]) {
    it(`must be one: ${JSON.stringify(path)}`, () => {
      expect(compileJsonPath(path).ok).toBe(false);
    });
  }
});
