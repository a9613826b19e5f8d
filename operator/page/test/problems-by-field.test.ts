import { describe, expect, test } from "vitest";
import { problemsOf } from "../src/spec-builder/problems-by-field.js";
import { EXAMPLE_DRAFT } from "../src/spec-builder/spec-draft.js";

describe("a refusal belongs to a field", () => {
  const refusal = { title: "", retryAfter: null, detail: "" };
  const two = { ...EXAMPLE_DRAFT, sources: [EXAMPLE_DRAFT.sources?.[0] ?? {}, { url: "https://b.example/" }] };

  test.each([
    [{ code: "invalid_spec", errors: [{ property: "/title", problem: "Empty." }] }, [["/title", "Empty."]]],
    [{ code: "invalid_spec", errors: [{ property: "/", problem: "Too long." }] }, [["", "Too long."]]],
    [
      { code: "invalid_spec", errors: [{ property: "/sources/0", problem: "$.air.kelvin: the path ends." }] },
      [["/sources/0/path", "$.air.kelvin: the path ends."]],
    ],
    [
      { code: "invalid_spec", errors: [{ property: "/sources/1", problem: "http://b.example/: not https." }] },
      [["/sources/1/url", "http://b.example/: not https."]],
    ],
    [
      { code: "invalid_spec", errors: [{ property: "/sources/1", problem: "body: POST needs a body." }] },
      [["/sources/1/body", "Body: POST needs a body."]],
    ],
    [
      { code: "invalid_spec", errors: [{ property: "/sources/0", problem: "{city} is never used." }] },
      [["/sources/0/url", "{city} is never used."]],
    ],
    [
      { code: "invalid_arguments", detail: "The argument city has 0 characters." },
      [["/arguments/0", "The argument city has 0 characters."]],
    ],
    [{ code: "host_not_allowed", detail: "Ask the owner to add them." }, []],
    [{ code: "trials_busy" }, []],
  ])("%j", (error, places) => {
    expect([...problemsOf({ ...refusal, ...error }, two)]).toEqual(places);
  });

  test.each([
    ["A uint needs decimals and rounding. Add both.", "decimals"],
    ["decimals, rounding: only a uint has these settings. Remove them.", "decimals"],
    ["headers: a spec cannot set host. Remove it.", "headers"],
    ["hash: only a string has this setting. Remove it.", "hash"],
  ])("%s", (problem, setting) => {
    const error = { ...refusal, code: "invalid_spec", errors: [{ property: "/sources/1", problem }] };
    expect([...problemsOf(error, two).keys()]).toEqual([`/sources/1/${setting}`]);
  });

  test("a source that has decimals lacks the rounding", () => {
    const errors = [{ property: "/sources/0", problem: "A uint needs decimals and rounding. Add both." }];
    expect([...problemsOf({ ...refusal, code: "invalid_spec", errors }, two).keys()]).toEqual(["/sources/0/rounding"]);
  });
});
