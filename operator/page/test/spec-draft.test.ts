/** A request spec while it is written. */

import { describe, expect, test } from "vitest";
import {
  EMPTY,
  EXAMPLE,
  nextSource,
  numberOf,
  parseDraft,
  scaleOf,
  withScale,
  withType,
  withUnit,
} from "../src/builder/spec-draft.js";
import { problemsOf } from "../src/builder/spec-problems.js";

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
    const text = JSON.stringify({ ...EXAMPLE, sources: [{ ...EXAMPLE.sources?.[0], headers: { accept: "a/b" } }] });
    const parsed = parseDraft(text);
    expect(parsed.ok && withScale(parsed.value, 3).sources?.[0]).toMatchObject({ headers: { accept: "a/b" } });
  });
});

describe("the form", () => {
  test("of a word has no scale, no unit and no median, and back as a number has them again", () => {
    const word = withType(EXAMPLE, "string");
    expect(word).not.toHaveProperty("unit");
    expect(word.combine).toBe("equal");
    expect(word.sources?.[0]).not.toHaveProperty("decimals");
    expect(word.sources?.[0]).not.toHaveProperty("rounding");
    const number = withType(word, "uint");
    expect(number.combine).toBe("median");
    expect(number.sources?.[0]).toMatchObject({ type: "uint", decimals: 2, rounding: "half-even" });
  });

  test("scales the sources and the unit alike", () => {
    const scaled = withScale(withUnit({ ...EMPTY, sources: [nextSource(EMPTY), nextSource(EMPTY)] }, "K"), 4);
    expect(scaled.sources?.map(({ decimals }) => decimals)).toEqual([4, 4]);
    expect(scaled.unit).toEqual({ symbol: "K", decimals: 4 });
    expect(withUnit(scaled, "")).not.toHaveProperty("unit");
    expect(scaleOf({ sources: [{ decimals: 1 }, { decimals: 2 }] })).toBeUndefined();
  });

  test("passes on what is not a number as it was typed, so that the engine can name it", () => {
    expect(["", "12", "1.5", "x"].map(numberOf)).toEqual([undefined, 12, "1.5", "x"]);
  });
});

describe("a refusal belongs to a field", () => {
  const refusal = { title: "", retryAfter: null, detail: "" };
  const two = { ...EXAMPLE, sources: [EXAMPLE.sources?.[0] ?? {}, { url: "https://b.example/" }] };

  test.each([
    [{ code: "invalid_spec", errors: [{ property: "/title", problem: "Empty." }] }, [["/title", "Empty."]]],
    [{ code: "invalid_spec", errors: [{ property: "/", problem: "Too long." }] }, [["", "Too long."]]],
    [
      { code: "invalid_spec", errors: [{ property: "/sources/0", problem: "$.air.kelvin: the path ends." }] },
      [["/sources/0/path", "$.air.kelvin: the path ends."]],
    ],
    [
      { code: "invalid_spec", errors: [{ property: "/sources/1", problem: "body: POST needs one." }] },
      [["/sources/1/body", "Body: POST needs one."]],
    ],
    [
      { code: "invalid_spec", errors: [{ property: "/sources/0", problem: "{city} is never used." }] },
      [["/sources/0/url", "{city} is never used."]],
    ],
    [
      { code: "invalid_arguments", detail: "The argument city has 0 characters." },
      [["/arguments/0", "The argument city has 0 characters."]],
    ],
    [
      { code: "host_not_allowed", detail: "b.example is not allowed." },
      [["/sources/1/url", "b.example is not allowed."]],
    ],
    [{ code: "trials_busy" }, []],
  ])("%j", (error, places) => {
    expect([...problemsOf({ ...refusal, ...error }, two)]).toEqual(places);
  });
});
