/** A request spec while it is written. */

import { describe, expect, test } from "vitest";
import {
  EMPTY_DRAFT,
  EXAMPLE_DRAFT,
  nextSource,
  parseDraft,
  parseWholeNumber,
  scaleOf,
  withScale,
  withType,
  withUnit,
} from "../src/spec-builder/spec-draft.js";

describe("a document", () => {
  test.each([
    ["{", "This is not JSON"],
    ["[]", 'A request spec is a JSON object. Begin with "{".'],
    ['{"sources":{}}', '"sources" must be a list of objects.'],
    ['{"variables":[1]}', '"variables" must be a list of objects.'],
    ['{"unit":"K"}', '"unit" must be an object'],
  ])("%s has no form: %s", (text, reason) => {
    expect(parseDraft(text)).toMatchObject({ ok: false, error: expect.stringContaining(reason) });
  });

  test("keeps what has no field", () => {
    const text = JSON.stringify({
      ...EXAMPLE_DRAFT,
      sources: [{ ...EXAMPLE_DRAFT.sources?.[0], headers: { accept: "a/b" } }],
    });
    const parsed = parseDraft(text);
    expect(parsed.ok && withScale(parsed.value, 3).sources?.[0]).toMatchObject({ headers: { accept: "a/b" } });
  });
});

describe("the form", () => {
  test("of a word has no scale, unit or median; as a number again, it has the default scale and the median", () => {
    const word = withType(EXAMPLE_DRAFT, "string");
    expect(word).not.toHaveProperty("unit");
    expect(word.combine).toBe("equal");
    expect(word.sources?.[0]).not.toHaveProperty("decimals");
    expect(word.sources?.[0]).not.toHaveProperty("rounding");
    const number = withType(word, "uint");
    expect(number.combine).toBe("median");
    expect(number.sources?.[0]).toMatchObject({ type: "uint", decimals: 2, rounding: "half-even" });
  });

  test("scales the sources and the unit alike", () => {
    const scaled = withScale(
      withUnit({ ...EMPTY_DRAFT, sources: [nextSource(EMPTY_DRAFT), nextSource(EMPTY_DRAFT)] }, "K"),
      4,
    );
    expect(scaled.sources?.map(({ decimals }) => decimals)).toEqual([4, 4]);
    expect(scaled.unit).toEqual({ symbol: "K", decimals: 4 });
    expect(withUnit(scaled, "")).not.toHaveProperty("unit");
    expect(scaleOf({ sources: [{ decimals: 1 }, { decimals: 2 }] })).toBeUndefined();
  });

  test("passes on what is not a number as it was typed, so that the engine can name it", () => {
    expect(["", "12", "1.5", "x"].map(parseWholeNumber)).toEqual([undefined, 12, "1.5", "x"]);
  });
});
