import fc from "fast-check";
import jsonP3, { type JSONValue } from "json-p3";
import { describe, expect, test } from "vitest";
import { plainJson } from "../../test/support/plain-json.js";
import { type Json, parseExactJson } from "./exact-json.js";
import { type BoundPath, compileJsonPath, MAX_STEPS } from "./json-path.js";

function path(text: string, values: Record<string, string> = {}, integers: readonly string[] = []): BoundPath {
  const compiled = compileJsonPath(text, [...Object.keys(values), ...integers], integers);
  if (!compiled.ok) throw new Error(compiled.error);
  return compiled.value.bind(values);
}

function parsed(json: string): Json {
  const document = parseExactJson(json);
  if (!document.ok) throw new Error(document.error.detail);
  return document.value;
}

function found(text: string, json: string, values: Record<string, string> = {}): unknown {
  const result = path(text, values).find(parsed(json));
  return result.ok ? JSON.parse(JSON.stringify(result.value.map(plainJson))) : result.error.code;
}

/** Returns the steps that a path takes; `MAX_STEPS` when it runs out. */
function stepsOf(path: BoundPath, document: Json): number {
  const budget = { steps: MAX_STEPS };
  path.find(document, budget);
  return MAX_STEPS - Math.max(budget.steps, 0);
}

describe("a filter compares numbers by all of their digits", () => {
  test("where a float would take one for the other", () => {
    expect(found("$[?@.id == 9007199254740993].p", '[{"id":9007199254740992,"p":1}]')).toEqual([]);
    expect(found("$[?@.id == 9007199254740993].p", '[{"id":9007199254740993,"p":1}]')).toEqual([1]);
    expect(found("$[?@ > 1e400]", "[1e401, 1e399, -1e500]")).toHaveLength(1);
  });

  test("however they are written", () => {
    expect(found("$[?@ == 100]", "[1e2, 100.00, 1000e-1, 100.0000000000000000001]")).toEqual([100, 100, 100]);
    expect(found("$[?@ == 0]", "[0, -0, 0.0, 0e5, 1e-400]")).toEqual([0, 0, 0, 0]);
    expect(found("$[?@ < -1]", "[-1, -1.01, -2, 0]")).toEqual([-1.01, -2]);
  });
});

describe("a variable in a path", () => {
  const json = '{"list":[{"s":"A-B","p":1},{"s":"x\' || true || \'","p":2}],"a\']":3,"ETH":4}';

  test("is a value in a name or in a string of a filter", () => {
    expect(found("$['{v}']", json, { v: "ETH" })).toEqual([4]);
    expect(found("$.list[?@.s == '{a}-{b}'].p", json, { a: "A", b: "B" })).toEqual([1]);
  });

  test("never becomes a part of the path", () => {
    expect(found("$['{v}']", json, { v: "a']" })).toEqual([3]);
    expect(found("$.list[?@.s == '{v}'].p", json, { v: "x' || true || '" })).toEqual([2]);
    expect(found("$['{v}']", json, { v: "*" })).toEqual([]);
    expect(found("$['{v}']", json, { v: "{v}" })).toEqual([]);
  });
});

describe("an integer variable in a filter", () => {
  const json = '{"list":[{"id":7,"p":1},{"id":"7","p":2},{"id":7.0,"p":3},{"id":9007199254740993,"p":4}],"{id}":5}';
  const at = (text: string, id: string) => {
    const result = path(text, { id }, ["id"]).find(parsed(json));
    return result.ok ? result.value.map(plainJson) : result.error.code;
  };

  test("is a number without quotes, and text in quotes", () => {
    expect(at("$.list[?@.id == {id}].p", "7")).toEqual([1, 3]);
    expect(at("$.list[?@.id=={id} ].p", "7")).toEqual([1, 3]);
    expect(at("$.list[?@.id == '{id}'].p", "7")).toEqual([2]);
    expect(at("$.list[?@.id >= {id}].p", "9007199254740993")).toEqual([4]);
    expect(at("$.list[?@.id >= {id}].p", "9007199254740994")).toEqual([]);
    expect(at("$['{id}']", "{id}")).toEqual([5]);
    // What looks like a filter, inside of a string.
    expect(at("$['== {id}]']", "1")).toEqual([]);
  });

  test("counts as used, and may not have another type", () => {
    expect(compileJsonPath("$[?@.id == {id}]", ["id"], ["id"])).toMatchObject({
      value: { variables: new Set(["id"]) },
    });
    const other = "{id} is not a variable of the type \"integer\". Write '{id}', or change its type.";
    for (const [variables, integers] of [[["id"], []] as const, [[], []] as const, [["id"], ["constructor"]] as const])
      expect(compileJsonPath("$[?@.id == {id}]", variables, integers)).toEqual({
        ok: false,
        error: `$[?@.id == {id}]: ${other}`,
      });
  });

  test.each(["$[{id}]", "$.{id}", "$[?@.id == -{id}]", "$[?@.id == 1{id}]", "$[?@[{id}] == 1]", "$[?{id} == @.id]"])(
    "may not stand anywhere else: %s",
    (text) => {
      const error = expect.stringContaining("with an integer variable ([?@.id == {id}])");
      expect(compileJsonPath(text, ["id"], ["id"])).toEqual({ ok: false, error });
    },
  );

  test("selects what its number in its place selects, whatever stands around it", () => {
    const part = fc.constantFrom(..."$ [ ] ? @ .id == < >= {id} '{id}' \"{id}\" ' \" \\ - 1 . {".split(" "), " ");
    const text = fc.oneof(
      fc.array(part, { maxLength: 8 }).map((parts) => `$${parts.join("")}`),
      fc.array(part, { maxLength: 3 }).map((parts) => `$.list[?@.id == {id}]${parts.join("")}`),
      fc.array(part, { maxLength: 2 }).map((parts) => `$.list[?@.id ${parts.join("")} {id}]`),
    );
    let accepted = 0;
    const check = fc.property(text, fc.bigInt({ min: 0n, max: 10n ** 30n }), (template, id) => {
      const compiled = compileJsonPath(template, ["id"], ["id"]);
      if (!compiled.ok) return;
      accepted += 1;
      expect(at(template, String(id)), template).toEqual(found(template.replaceAll("{id}", String(id)), json));
    });
    fc.assert(check, { numRuns: 3_000 });
    expect(accepted).toBeGreaterThan(100);
  });
});

describe("the cost of a path is bounded by counting steps", () => {
  const wide = `[${Array(300_000).fill("[]").join(",")}]`;
  const digits = "7".repeat(100_000);
  test.each([
    [`$[?@${".a".repeat(300)} == 1]`, wide],
    [`$[?$[0] == '${"x".repeat(900)}']`, `["${"x".repeat(900)}",${"1,".repeat(100_000)}1]`],
    ["$.list[?$.big < 1]", `{"big":${digits},"list":[${"1,".repeat(1_000)}1]}`],
  ])("%s ends after MAX_STEPS steps with a failure", (text, json) => {
    expect(stepsOf(path(text), parsed(json))).toBe(MAX_STEPS);
    expect(found(text, json)).toBe("path_too_costly");
  });

  test("an exchange's whole list of 3,000 tickers costs a fiftieth of that", () => {
    const tickers = Array.from({ length: 3_000 }, (_, i) => `{"symbol":"S${i}","price":"${i}"}`);
    const [text, json] = ["$[?@.symbol == 'S2999'].price", `[${tickers.join(",")}]`];
    expect(found(text, json)).toEqual(["2999"]);
    expect(stepsOf(path(text), parsed(json))).toBeLessThan(MAX_STEPS / 50);
  });
});

describe("a path", () => {
  const names = fc.constantFrom("a", "b", "c");
  const leaf = fc.oneof(
    fc.constantFrom("a", "b", ""),
    fc.integer({ min: -2, max: 3 }),
    fc.boolean(),
    fc.constant(null),
  );
  const json = fc.letrec((tie) => ({
    node: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie("node"), { maxLength: 4 }),
      fc.dictionary(names, tie("node"), { maxKeys: 3 }),
    ),
  })).node;
  const child = fc.oneof(
    names.map((name) => `.${name}`),
    names.map((name) => `[ "${name}"]`),
    fc.integer({ min: -3, max: 3 }).map((i) => `[${i}]`),
  );
  const singular = fc.array(child, { maxLength: 2 }).map((parts) => parts.join(""));
  const comparison = fc
    .tuple(
      fc.constantFrom("@", "$"),
      singular,
      fc.constantFrom("==", "!=", "<", "<=", ">", ">="),
      leaf.map((value) => JSON.stringify(value)),
    )
    .map(([from, path, operator, literal]) => `${from}${path} ${operator} ${literal}`);
  const segment = fc.oneof(
    child,
    fc.constantFrom(".*", "[*]"),
    comparison.map((test) => `[?${test}]`),
  );
  const anyPath = fc.array(segment, { maxLength: 4 }).map((segments) => `$${segments.join("")}`);
  const standard = new jsonP3.JSONPathEnvironment();

  test("finds what json-p3 finds", () => {
    fc.assert(
      fc.property(anyPath, json, (text, document) => {
        const expected = standard.query(text, document as JSONValue).values();
        expect(found(text, JSON.stringify(document)), text).toEqual(expected);
      }),
      { numRuns: 2_000 },
    );
  });

  test("is accepted only if the standard accepts it, and then finds the same", () => {
    const words = "$ @ .a .. [ ] ' \" a \\ \\u0061 ? == < * - 0 1 1.5e3 , : ! ( ) && true null length(@)".split(" ");
    const pieces = fc.constantFrom(" ", "\n", ...words);
    const text = fc.array(pieces, { maxLength: 10 }).map((parts) => `$${parts.join("")}`);
    const near = fc
      .tuple(anyPath, fc.nat({ max: 40 }), pieces)
      .map(([path, at, piece]) => path.slice(0, at) + piece + path.slice(at));
    let accepted = 0;
    const check = fc.property(fc.oneof(text, near), json, (text, document) => {
      if (!compileJsonPath(text).ok) return;
      accepted += 1;
      const expected = standard.query(text, document as JSONValue).values();
      expect(found(text, JSON.stringify(document)), text).toEqual(expected);
    });
    fc.assert(check, { numRuns: 5_000 });
    expect(accepted).toBeGreaterThan(100);
  });

  test.each([
    "$",
    "$['a..b']",
    "$[-1]",
    "$.a[?@.s == '..'].p",
    "$[?$.code != '0']",
    "$[ ? @ > -1.5e3 ]",
    "$['\\u00e9\\'\"']",
  ])("may be %s", (text) => {
    expect(compileJsonPath(text)).toMatchObject({ ok: true });
  });

  test.each([
    ["$..price", "..['price'] cannot be used"],
    ["$.a[0:2]", "[:2:1] cannot be used"],
    ["$['a','b']", "['a', 'b'] cannot be used"],
    ["$.a[?@.b]", "[?@.b] cannot be used"],
    ["$.a[?@.b == @.c]", "[?@.b == @.c] cannot be used"],
    ["$.a[?match(@.s, '(a+)+')]", "cannot be used"],
    ["$.a[?@.* == 1]", "non-singular query is not comparable"],
    ["price", "expected '$'"],
    ["$[01]", "leading zero"],
    ["$['\ud800']", "half of a surrogate pair"],
  ])("may not be %j, and the error says why, and what can be used", (text, why) => {
    const compiled = compileJsonPath(text);
    const error = compiled.ok ? "none" : compiled.error;
    expect(error).toContain(why);
    expect(error).toContain("names (.name or ['name']), indices");
  });
});

describe("a filter by a member's text", () => {
  const text = fc.constantFrom("", "a", "b", "ab");
  const element = fc.oneof(
    text,
    fc.integer({ min: 0, max: 2 }),
    fc.array(fc.oneof(text, fc.constant(null)), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("s", "t", "__proto__"), fc.oneof(text, fc.constant(1)), { maxKeys: 3 }),
  );
  const members = ["@.s", "@['t']", "@['__proto__']", "@[0]", "@[-1]", "@"];

  test("finds what testing each element finds, in its order, however often it is asked", () => {
    fc.assert(
      fc.property(fc.array(element, { maxLength: 12 }), fc.constantFrom(...members), text, (list, member, wanted) => {
        const document = parsed(JSON.stringify(list));
        // An object is not indexed.
        const scan = path(`$[?${member} == '${wanted}']`).find({ ...(document as Json[]) });
        const lookup = path(`$[?${member} == '${wanted}']`);
        for (let i = 0; i < 2; ++i) expect(lookup.find(document)).toEqual(scan);
      }),
    );
  });

  test("costs the same the first and every other time, and as much as there is to scan", () => {
    const list = JSON.stringify(Array.from({ length: 1_000 }, (_, i) => ({ s: String(i) })));
    const document = parsed(list);
    const steps = () => stepsOf(path("$[?@.s == '7']"), document);
    const first = steps();
    expect(first).toBeGreaterThan(4_000);
    expect(steps()).toBe(first);
  });
});
