import { CHARACTER_CLASSES, type RequestSpec } from "@dataset-oracle/protocol/request-spec";
import { ok } from "@dataset-oracle/protocol/result";
import fc from "fast-check";
import { stringToHex } from "viem";
import { describe, expect, it } from "vitest";
import type { BoundSource } from "../source/compile-source.js";
import { parseExactJson } from "../source/exact-json.js";
import { toCanonicalJson } from "./canonical-json.js";
import { compileCanonicalSpec, compileSpec } from "./compile-spec.js";

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
  it("says its hosts, its type, and the kind of its datasets", () => {
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

  it("becomes requests with its arguments in their places, as values", () => {
    const post = { ...source, method: "POST", url: "https://api.example.com/", body: '{"q":"{city}"}' };
    const { sources } = bound({ ...valid, sources: [source, post] }, 'a"b&c=d/../é');
    expect(sources[0]?.request.url).toBe("https://api.example.com/now?q=a%22b%26c%3Dd%2F..%2F%C3%A9");
    expect(JSON.parse(sources[1]?.request.body ?? "")).toEqual({ q: 'a"b&c=d/../é' });
  });

  it("combines what its sources give, each scaled by its own decimals", () => {
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
  it.each<[string, object, string]>([
    ["lacks a setting", { minSources: undefined }, "/minSources: is missing"],
    ["has another setting", { comment: "" }, "/comment: is unknown; remove it"],
    ["has no sources", { sources: [] }, "/sources: must not be empty"],
    ["has nine sources", { sources: Array(9).fill(source) }, "/sources: must have at most 8 items"],
    ["needs more sources than it has", { minSources: 2 }, "/minSources: 2 is more than the number of sources, 1"],
    ["combines numbers by majority", { combine: "majority" }, '/combine: a uint needs "median"'],
    ["combines words by median", { sources: [word] }, '/combine: a bool needs "majority" or "equal"'],
    [
      "gives a unit to something that is no number",
      { unit, combine: "majority", sources: [word] },
      "/unit: only a number has a unit, and this is a bool",
    ],
    [
      "hides something in its unit",
      { unit: { symbol: "U\u200bSD", decimals: 2 } },
      "/unit/symbol: does not have the required form",
    ],
    ["mixes types", { sources: [source, word] }, "/sources/1/type: the sources differ in type or hash"],
    ["declares a variable twice", { variables: [city, city] }, "/variables/1/name: two variables are named city"],
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
      "has an integer of letters",
      { variables: [{ ...city, type: "integer" }] },
      '/variables/0: An integer needs the characters "digits"',
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

  it("is read from its canonical bytes alone", () => {
    const bytes = toCanonicalJson(valid);
    expect(bytes.ok && compileCanonicalSpec(bytes.value).ok).toBe(true);
    expect(compileCanonicalSpec(stringToHex(JSON.stringify(valid, null, 2)))).toMatchObject({
      ok: false,
      error: expect.stringContaining("not canonical (RFC 8785)"),
    });
  });
});

describe("an argument", () => {
  it.each<[string, string[]]>([
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

  it.each(CHARACTER_CLASSES)("of the class %s has no other characters", (characters) => {
    const request = compiled({ ...valid, variables: [{ ...city, characters }] });
    const [good, bad] = samples[characters];
    expect(request.bind([good]).ok).toBe(true);
    expect(request.bind([bad])).toMatchObject({ ok: false, error: expect.stringContaining(characters) });
  });

  it("that is an integer has one spelling", () => {
    const request = compiled({ ...valid, variables: [{ ...city, type: "integer", characters: "digits" }] });
    for (const good of ["0", "7", "10"]) expect(request.bind([good]).ok).toBe(true);
    for (const bad of ["00", "07", "-1", "1.0", "1e3", ""]) expect(request.bind([bad]).ok).toBe(false);
  });

  it("is counted in characters, not in halves of them", () => {
    const request = compiled({ ...valid, variables: [{ ...city, maxLength: 2 }] });
    expect(request.bind(["😀😀"]).ok).toBe(true);
  });
});

describe("specs of unknown authors", () => {
  const text = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.constantFrom(..."{city} https://api.example.com/{city} $.a $..a $[?@.a] uint string GET POST".split(" ")),
  );
  /** Mostly what is right, so that what is wrong elsewhere is found. */
  const mostly = <T>(good: T, other: fc.Arbitrary<unknown> = text) =>
    fc.oneof({ weight: 9, arbitrary: fc.constant<unknown>(good) }, { weight: 1, arbitrary: other });
  const hostile = text.map((part) => `https://api.example.com/${part}{city}`);
  const fuzzed = fc.record({
    method: mostly("GET"),
    url: fc.oneof(mostly(source.url), hostile, text),
    headers: mostly({ accept: "text/plain" }, fc.dictionary(text, text, { maxKeys: 2 })),
    path: mostly("$.a"),
    type: mostly("uint"),
    decimals: mostly(2, fc.double()),
    rounding: mostly("truncate"),
  });
  const spec = fc.record({
    title: mostly("A title"),
    variables: mostly([{ ...city, minLength: 0 }], fc.jsonValue()),
    sources: fc.array(fuzzed, { maxLength: 2 }),
    minSources: mostly(1, fc.integer({ min: -1, max: 3 })),
    combine: mostly("median"),
  });

  it("are compiled or refused, and what they ask is always a public https host that they name", () => {
    let made = 0;
    fc.assert(
      fc.property(fc.oneof(spec, fc.jsonValue()), fc.array(text, { maxLength: 2 }), (json, args) => {
        const request = compileSpec(json);
        if (!request.ok) return void expect(request.error).not.toBe("");
        const { variables } = request.value.spec as RequestSpec;
        const own = request.value.bind(variables.map((_, i) => args[i] ?? "1"));
        if (!own.ok) return void expect(own.error).not.toBe("");
        made += 1;
        for (const { request: one } of own.value.sources) {
          const url = new URL(one.url);
          expect([url.protocol, url.port, url.username, url.password, url.hash]).toEqual(["https:", "", "", "", ""]);
          expect(url.href).toBe(one.url);
          expect(request.value.hosts).toContain(url.host);
        }
      }),
      { numRuns: 3_000 },
    );
    expect(made).toBeGreaterThan(100);
  });
});
