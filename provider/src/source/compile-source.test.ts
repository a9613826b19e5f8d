import type { SourceSpec } from "@dataset-oracle/protocol/request-spec";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileSource } from "./compile-source.js";
import { parseExactJson } from "./exact-json.js";

const SPEC: SourceSpec = {
  method: "GET",
  url: "https://api.example.com/v1/{team}?season={year}",
  headers: { "x-api": "1" },
  path: "$.result['{team}']",
  type: "uint",
  decimals: 2,
  rounding: "truncate",
};
const compile = (change: Partial<SourceSpec>, variables = ["team", "year"]) =>
  compileSource({ ...SPEC, ...change }, variables, ["year"]);

function bind(change: Partial<SourceSpec>, values: Record<string, string>) {
  const source = compile(change);
  if (!source.ok) throw new Error(source.error);
  return source.value.bind(values);
}

function read(change: Partial<SourceSpec>, json: string) {
  const bound = bind(change, { team: "Bayern", year: "2026" });
  const document = parseExactJson(json);
  if (!bound.ok || !document.ok) throw new Error("not bound");
  const reading = bound.value.extract(document.value);
  return reading.ok ? reading.value : reading.error.code;
}

describe("a source", () => {
  test("is asked with its values, and its value is read with them", () => {
    const bound = bind({}, { team: "1. FC/ä", year: "2026" });
    expect(bound).toMatchObject({
      ok: true,
      value: {
        request: {
          method: "GET",
          url: "https://api.example.com/v1/1.%20FC%2F%C3%A4?season=2026",
          headers: { "x-api": "1" },
        },
      },
    });
    expect(read({}, '{"result":{"Bayern":"3.149","Other":1}}')).toBe(314n);
  });

  test("that is posted to gets JSON", () => {
    const bound = bind({ method: "POST", body: '{"team":"{team}"}' }, { team: '"', year: "1" });
    expect(bound).toMatchObject({
      value: { request: { method: "POST", body: '{"team":"\\""}', headers: { "content-type": "application/json" } } },
    });
  });

  test("is not asked with a body that values make too long, because those of a whole row are in memory", () => {
    const bodyOf = (length: number) =>
      bind({ method: "POST", body: '"{team}"' }, { team: "x".repeat(length), year: "1" });
    expect(bodyOf(4_094)).toMatchObject({ ok: true });
    expect(bodyOf(4_095)).toEqual({
      ok: false,
      error: "The body has 4097 characters, above the limit of 4096. Use shorter values.",
    });
  });

  test.each([".", "..", "a\nb", "\u007f", "\u0085", "\ud800"])("refuses a value that is no plain text: %j", (value) => {
    const error = expect.stringMatching(/^\{team\} (contains|must not be)/);
    expect(bind({}, { team: value, year: "1" })).toMatchObject({ ok: false, error });
  });

  test.each<[change: Partial<SourceSpec>, problem: RegExp]>([
    [{ url: "https://api.example.com/v1/{team}" }, /\{year\} is never used/],
    [{ body: "{}" }, /GET has no body/],
    [{ headers: { host: "other" } }, /a spec cannot set host/],
    [{ type: "string" }, /only a uint has these settings/],
    [{ type: "bool", format: "iso8601" }, /only a uint has these settings/],
    [{ hash: true }, /only a string has this setting/],
    [{ path: "$.a[?@.b == {team}]" }, /\{team\} is not a variable of the type "integer"/],
    [{ path: "$.a[?@.b == '{x}']" }, /\{x\} is not a variable/],
    [{ url: "https://{team}.example.com/{year}" }, /must start with "https/],
  ])("is refused for %j", (change, problem) => {
    expect(compile(change)).toMatchObject({ ok: false, error: expect.stringMatching(problem) });
  });
});

/** The value at a path of a JSON text, scaled by 10^18, or the failure's code. */
const extract = (json: string, path: string, errorPath = "$.none") =>
  read({ path, errorPath, throttleErrors: ["Slow down"], decimals: 18, rounding: "half-even" }, json);

describe("a value is taken from exactly one node", () => {
  test("a path that matches nothing is a failure and never 0", () => {
    expect(extract('{"price":"1"}', "$.prize")).toBe("no_node");
    expect(extract('{"a":[]}', "$.a[0]")).toBe("no_node");
    expect(extract('{"a":{"toString":"1"}}', "$.a.constructor")).toBe("no_node");
    expect(extract("[1]", "$.length")).toBe("no_node");
  });

  test("a path that matches several nodes is a failure, even when they are equal", () => {
    expect(extract('{"a":["1","1"]}', "$.a[*]")).toBe("several_nodes");
  });

  test("the inner members of a kept number are not part of the document", () => {
    expect(extract('{"price":5.0}', "$.price.text")).toBe("no_node");
    expect(extract('{"price":5.0}', "$.price.*")).toBe("no_node");
  });
});

test.each([
  ["is a failure, although there is a value too", '{"error":["EService:Busy"],"p":"1"}', "source_error"],
  ["can say that the source's rate limit is used up", '{"error":["Slow down"]}', "throttled"],
  ["is absent when errorPath matches nothing", '{"error":[],"p":"1"}', 10n ** 18n],
])("a source's own error %s", (_, json, result) => {
  expect(extract(json, "$.p", "$.error[*]")).toBe(result);
});

test.each([
  ["a text", '{"errors":"Down"}', "says: Down"],
  ["a number", '{"errors":[5.00]}', "says: 5.00"],
  [
    "GraphQL's list",
    '{"errors":[{"message":"Cannot query field \\"x\\"","locations":[]},{"message":"b"}]}',
    'says: Cannot query field "x"',
  ],
  ["an object", '{"errors":{"message":{"message":"Down"}}}', "says: Down"],
  ["an inherited member", '{"errors":{"__proto__":{"message":"no"}}}', "says: an error"],
  ["nothing that is text", '{"errors":[[],"late"]}', "says: an error"],
  ["a long text", `{"errors":"${"x".repeat(300)}"}`, `says: ${"x".repeat(200)}`],
])("a source's own error that is %s is quoted", (_, json, detail) => {
  const bound = bind({ errorPath: "$.errors" }, { team: "a", year: "1" });
  const document = parseExactJson(json);
  if (!bound.ok || !document.ok) throw new Error("not bound");
  expect(bound.value.extract(document.value)).toEqual({ ok: false, error: { code: "source_error", detail } });
});

test("an integer selects an element by its number, and a date is read as seconds", () => {
  const json = '{"list":[{"year":2025,"at":"1"},{"year":2026,"at":"2026-01-31T12:00:00.5+01:00"}]}';
  const url = "https://api.example.com/{team}";
  expect(read({ url, path: "$.list[?@.year == {year}].at", format: "iso8601" }, json)).toBe(176_985_720_050n);
});

describe("whatever a spec says", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 20 }),
    fc.constantFrom(...'{a} {b} {c} { } $[?@.a=={b}] $ $.a $[?@.a=="{a}"] / ? # .. " \\ [ ]'.split(" ")),
  );
  const some = (...fixed: string[]) =>
    fc.oneof(
      fc.constantFrom(...fixed),
      fc
        .tuple(fc.constantFrom(...fixed), fc.array(text, { maxLength: 4 }))
        .map(([begin, rest]) => begin + rest.join("")),
    );
  const spec = fc.record(
    {
      method: fc.constantFrom("GET" as const, "POST" as const),
      url: some("https://api.example.com/{a}/{b}", "https://api.example.com/", "http://x.y/"),
      body: some('{"a":"{a}"}', '["', ""),
      path: some("$.a", "$['{b}']", "$[?@.a == '{a}']", "$[?@ >= {b}]", "$"),
      errorPath: some("$.e", "$"),
      type: fc.constantFrom("uint" as const, "bool" as const, "bytes32" as const, "string" as const),
      decimals: fc.integer({ min: 0, max: 62 }),
      rounding: fc.constantFrom("half-even" as const, "truncate" as const),
      format: fc.constant("iso8601" as const),
      hash: fc.boolean(),
    },
    { requiredKeys: ["method", "url", "path", "type"] },
  );
  /** As it is, or with the settings that its type and method need and no others. */
  const fitting = fc.tuple(spec, fc.integer({ min: 0, max: 3 })).map(([spec, chance]) => {
    if (chance === 0) return spec;
    const { decimals = 18, rounding = "truncate" as const, format, hash = false, body, ...rest } = spec;
    return {
      ...rest,
      ...(rest.type === "uint" && { decimals, rounding, ...(format && { format }) }),
      ...(rest.type === "string" && { hash }),
      ...(rest.method === "POST" && { body: body ?? "{}" }),
    };
  });
  const date = fc.date({ noInvalidDate: true }).map((at) => JSON.stringify({ a: at }));
  const json = fc.oneof(fc.json(), date);
  const value = fc.oneof(fc.string({ maxLength: 12 }), fc.string({ unit: "binary", maxLength: 12 }), text);

  test("compiling never throws, a url stays at its origin, and a value is 32 bytes, of its type", () => {
    let bound = 0;
    fc.assert(
      fc.property(fitting, value, fc.nat().map(String), json, (spec, a, b, json) => {
        const source = compileSource(spec as SourceSpec, ["a", "b"], ["b"]);
        const question = source.ok ? source.value.bind({ a, b }) : source;
        if (!source.ok || !question.ok) return;
        bound += 1;
        const { request, extract } = question.value;
        expect(new URL(request.url).origin).toBe(source.value.origin);
        expect(new URL(request.url).href).toBe(request.url);
        if (request.body !== undefined) JSON.parse(request.body);
        const document = parseExactJson(json);
        const reading = document.ok ? extract(document.value) : document;
        if (!reading.ok) return;
        expect(typeof reading.value).toBe("bigint");
        const bits = { uint: 208n, bool: 1n, bytes32: 256n, string: 256n }[spec.type];
        expect(reading.value >= 0n && reading.value < 2n ** bits).toBe(true);
      }),
      { numRuns: 5_000 },
    );
    // The rest was refused: without this the test could say nothing.
    expect(bound).toBeGreaterThan(100);
  });
});
