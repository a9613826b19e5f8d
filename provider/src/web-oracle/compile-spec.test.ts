import { CHARACTER_CLASSES } from "@dataset-oracle/protocol/argument-problem";
import { ok } from "@dataset-oracle/protocol/result";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { BoundSource } from "../source/compile-source.js";
import { parseExactJson } from "../source/exact-json.js";
import { compileSpec } from "./compile-spec.js";

const city = { name: "city", type: "string", characters: "unicode", minLength: 1, maxLength: 40 };
const source = {
  method: "GET",
  url: "https://api.example.com/now?q={city}",
  path: "$.celsius",
  type: "uint",
  decimals: 2,
  rounding: "half-even",
};
const valid = { title: "The temperature", variables: [city], sources: [source], minSources: 1, combine: "median" };

function compiled(spec: object = valid) {
  const request = compileSpec(spec);
  if (!request.ok) throw new Error(request.error);
  return request.value;
}

const bound = (spec: object, ...args: string[]) => {
  const request = compiled(spec).bind(args);
  if (!request.ok) throw new Error(request.error);
  return request.value;
};

describe("a request spec", () => {
  test("says its hosts, its type, and the kind of its datasets", () => {
    const two = { ...source, url: "https://b.example.com/{city}" };
    expect(compiled({ ...valid, sources: [source, source, two] })).toMatchObject({
      hosts: ["api.example.com", "b.example.com"],
      type: "uint",
      kind: "median",
    });
    const word = { method: "GET", url: source.url, path: "$.text", type: "string" };
    expect(compiled({ ...valid, sources: [word], combine: "equal" })).toMatchObject({
      type: "string",
      kind: "majority",
    });
  });

  test("combines what its sources give, each scaled by its own decimals", () => {
    const cents = { ...source, url: "https://b.example.com/{city}", decimals: 0 };
    const { sources, combine } = bound({ ...valid, sources: [source, cents], minSources: 2 }, "Lima");
    const readings = ['{"celsius":21.5}', '{"celsius":2150}'].map((text, index) => {
      const document = parseExactJson(text);
      if (!document.ok) return document;
      return (sources[index] as BoundSource).extract(document.value);
    });
    expect(readings).toEqual([ok(2150n), ok(2150n)]);
    expect(combine(readings)).toEqual({ kind: "value", value: 2150n });
  });

  const word = { method: "GET", url: source.url, path: "$.a", type: "bool" };
  const unit = { symbol: "K", decimals: 2 };
  test.each<[string, object, string]>([
    ["lacks a setting", { minSources: undefined }, "/minSources: is missing"],
    ["needs more sources than it has", { minSources: 2 }, "/minSources: 2 is more than the number of sources, 1"],
    ["combines numbers by majority", { combine: "majority" }, '/combine: a uint needs "median"'],
    [
      "gives a unit to something that is no number",
      { unit, combine: "majority", sources: [word] },
      "/unit: only a number has a unit, and this is a bool",
    ],
    ["mixes types", { sources: [source, word] }, "/sources/1/type: the sources differ in type or hash"],
    [
      "has a source that is refused",
      { variables: [city, { ...city, name: "day" }] },
      "/sources/0: {day} is never used",
    ],
    [
      "has a variable of impossible length",
      { variables: [{ ...city, minLength: 41 }] },
      "/variables/0: minLength 41 is above maxLength 40",
    ],
    [
      "has a regular expression for its characters",
      { variables: [{ ...city, characters: "^(a+)+$" }] },
      "/variables/0/characters: must be one of digits,",
    ],
    [
      "asks this machine",
      { sources: [{ ...source, url: "https://a.localhost/{city}" }] },
      "/sources/0/url: a.localhost",
    ],
  ])("that %s is refused, with the place", (_, change, expected) => {
    const request = compileSpec(JSON.parse(JSON.stringify({ ...valid, ...change })));
    expect(request.ok ? "" : request.error).toContain(expected);
  });
});

describe("an argument", () => {
  test.each<[string, string[]]>([
    ["is missing", []],
    ["is one too many", ["Lima", "Lima"]],
    ["is too short", [""]],
    ["is too long", ["x".repeat(41)]],
    ["is a relative path segment", [".."]],
  ])("that %s is refused", (_, args) => {
    expect(compiled().bind(args)).toMatchObject({ ok: false });
  });

  const samples: Record<(typeof CHARACTER_CLASSES)[number], [string, string]> = {
    digits: ["0123", "12a"],
    letters: ["aZ", "a1"],
    "upper-case": ["AZ", "Az"],
    "lower-case": ["az", "Az"],
    alphanumeric: ["aZ9", "a-9"],
    hex: ["09af", "0A"],
    unreserved: ["a.b_c~-9", "a b"],
    ascii: [" ~!", "é"],
    unicode: ["é😀", "a\u0085"],
  };

  test.each(CHARACTER_CLASSES)("of the class %s has no other characters", (characters) => {
    const request = compiled({ ...valid, variables: [{ ...city, characters }] });
    const [good, bad] = samples[characters];
    expect(request.bind([good]).ok).toBe(true);
    expect(request.bind([bad])).toMatchObject({ ok: false, error: expect.stringContaining(characters) });
  });

  test("that is an integer has one spelling", () => {
    const request = compiled({ ...valid, variables: [{ ...city, type: "integer", characters: "digits" }] });
    for (const good of ["0", "7", "10"]) expect(request.bind([good]).ok).toBe(true);
    for (const bad of ["00", "07", "-1", "1.0", "1e3", ""]) expect(request.bind([bad]).ok).toBe(false);
  });

  test("is counted in characters, not in halves of them", () => {
    const request = compiled({ ...valid, variables: [{ ...city, maxLength: 2 }] });
    expect(request.bind(["😀😀"]).ok).toBe(true);
  });
});

test("a spec is compiled or refused, whatever JSON it is", () => {
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fc.record({ sources: fc.jsonValue() })), (json) => {
      const request = compileSpec({ ...valid, ...(json as object) });
      if (!request.ok) expect(request.error).not.toBe("");
    }),
  );
});
