import fc from "fast-check";
import jsonP3, { type JSONValue } from "json-p3";
import { describe, expect, it } from "vitest";
import { digitsOf, isNumber, type Json, parseDocument } from "./document.js";
import { type BoundPath, compileJsonPath, MAX_STEPS } from "./json-path.js";

function path(text: string, values: Record<string, string> = {}): BoundPath {
  const compiled = compileJsonPath(text, Object.keys(values));
  if (!compiled.ok) throw new Error(compiled.error);
  return compiled.value.bind(values);
}

function parsed(json: string): Json {
  const document = parseDocument(json);
  if (!document.ok) throw new Error(document.detail);
  return document.value;
}

// biome-ignore lint/suspicious/noExplicitAny: it is whatever the path finds.
function found(text: string, json: string, values: Record<string, string> = {}): any {
  const result = path(text, values).find(parsed(json));
  return result.ok ? JSON.parse(JSON.stringify(result.value.map(plain))) : result.failure;
}

function plain(node: Json): unknown {
  if (isNumber(node)) return Number(digitsOf(node));
  if (Array.isArray(node)) return node.map(plain);
  if (typeof node !== "object" || node === null) return node;
  return Object.fromEntries(Object.entries(node).map(([name, child]) => [name, plain(child)]));
}

/** How many steps a path costs, or what it had when it ran out of them. */
function steps(text: string, json: string): number {
  const budget = { steps: MAX_STEPS };
  path(text).find(parsed(json), budget);
  return MAX_STEPS - Math.max(budget.steps, 0);
}

describe("a filter compares numbers by all of their digits", () => {
  it("where a float would take one for the other", () => {
    expect(found("$[?@.id == 9007199254740993].p", '[{"id":9007199254740992,"p":1}]')).toEqual([]);
    expect(found("$[?@.id == 9007199254740993].p", '[{"id":9007199254740993,"p":1}]')).toEqual([1]);
    expect(found("$[?@ > 1e400]", "[1e401, 1e399, -1e500]").length).toBe(1);
  });

  it("however they are written", () => {
    expect(found("$[?@ == 100]", "[1e2, 100.00, 1000e-1, 100.0000000000000000001]")).toEqual([100, 100, 100]);
    expect(found("$[?@ == 0]", "[0, -0, 0.0, 0e5, 1e-400]")).toEqual([0, -0, 0, 0].map(() => 0));
    expect(found("$[?@ < -1]", "[-1, -1.01, -2, 0]")).toEqual([-1.01, -2]);
  });
});

describe("a variable in a path", () => {
  const json = '{"list":[{"s":"A-B","p":1},{"s":"x\' || true || \'","p":2}],"a\']":3,"ETH":4}';

  it("is a value in a name or in a string of a filter", () => {
    expect(found("$['{v}']", json, { v: "ETH" })).toEqual([4]);
    expect(found("$.list[?@.s == '{a}-{b}'].p", json, { a: "A", b: "B" })).toEqual([1]);
  });

  it("never becomes a part of the path", () => {
    expect(found("$['{v}']", json, { v: "a']" })).toEqual([3]);
    expect(found("$.list[?@.s == '{v}'].p", json, { v: "x' || true || '" })).toEqual([2]);
    expect(found("$['{v}']", json, { v: "*" })).toEqual([]);
    expect(found("$['{v}']", json, { v: "{v}" })).toEqual([]);
  });

  it("is one of those that there are", () => {
    expect(compileJsonPath("$['{other}']", ["v"])).toMatchObject({
      ok: false,
      error: expect.stringContaining("{other} is not a variable"),
    });
  });
});

describe("what a path may cost is bounded, by counting", () => {
  const wide = `[${Array(300_000).fill("[]").join(",")}]`;
  const deep = "[".repeat(600) + "]".repeat(600);
  const hostile: [path: string, json: string][] = [
    ["$[?count($[?count($[?count($[*]) > 0]) > 0]) > 0]", wide],
    ["$[?$[?$[?$[?@ == 1]]]]", wide],
    [
      "$[?@ == $[0]]",
      `[${Array(300)
        .fill(`[${"1,".repeat(1_700)}1]`)
        .join(",")}]`,
    ],
    [
      "$[?@.x == $.big || $.big < @.x]",
      `{${Array.from({ length: 9_000 }, (_, i) => `"${i}":{"x":${"7".repeat(50)}}`).join(",")},"big":${"7".repeat(100_000)}}`,
    ],
    [`$${"[*,*]".repeat(100)}`, deep],
    [`$${"[0,0,0:9]".repeat(100)}[?@ == 1]`, deep],
    [`$[?${Array(80).fill("@.a == 1").join("||")}]`, wide],
    ["$[?length($[0]) == length($[1])]", `["${"x".repeat(400_000)}","${"y".repeat(400_000)}"${',""'.repeat(1_000)}]`],
  ];
  for (const [text, json] of hostile) {
    it(`${text.slice(0, 60)} ends after ${MAX_STEPS} steps with a failure`, () => {
      expect(steps(text, json)).toBe(MAX_STEPS);
      expect(found(text, json)).toBe("path_too_costly");
    });
  }

  it("an exchange's whole list of 3,000 tickers costs a hundredth of that", () => {
    const tickers = Array.from({ length: 3_000 }, (_, i) => `{"symbol":"S${i}","price":"${i}"}`);
    expect(found("$[?@.symbol == 'S2999'].price", `[${tickers.join(",")}]`)).toEqual(["2999"]);
    expect(steps("$[?@.symbol == 'S2999'].price", `[${tickers.join(",")}]`)).toBeLessThan(MAX_STEPS / 50);
  });

  it("values nested deeper than the stack are a failure, not a crash", () => {
    // The parser could not read this one.
    let left: Json = [];
    let right: Json = [];
    for (let i = 0; i < 100_000; ++i) [left, right] = [[left], [right]];
    expect(path("$[?@ == $[1]]").find([left, right])).toMatchObject({ failure: "path_too_costly" });
  });
});

describe("what it finds", () => {
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
  const singular = fc
    .array(
      fc.oneof(
        names.map((name) => `.${name}`),
        fc.integer({ min: -3, max: 3 }).map((i) => `[${i}]`),
      ),
      { maxLength: 2 },
    )
    .map((parts) => parts.join(""));
  const bound = fc.option(fc.integer({ min: -5, max: 5 }), { nil: "" as const });
  const comparable = fc.oneof(
    singular.map((rest) => `@${rest}`),
    singular.map((rest) => `$${rest}`),
    leaf.map((value) => JSON.stringify(value)),
    singular.map((rest) => `length(@${rest})`),
    singular.map((rest) => `count(@${rest}[*])`),
    singular.map((rest) => `value(@${rest}[*])`),
  );
  const comparison = fc
    .tuple(comparable, fc.constantFrom("==", "!=", "<", "<=", ">", ">="), comparable)
    .map((parts) => parts.join(" "));
  const test = fc.oneof(
    comparison,
    singular.map((rest) => `@${rest}[*]`),
    singular.map((rest) => `!@${rest}`),
  );
  const filter = fc
    .tuple(test, fc.constantFrom("&&", "||"), test)
    .map(([left, operator, right]) => `?(${left}) ${operator} ${right}`);
  const selector = fc.oneof(
    names.map((name) => `'${name}'`),
    fc.integer({ min: -4, max: 4 }).map(String),
    fc.tuple(bound, bound, bound).map((parts) => parts.join(":")),
    fc.constant("*"),
    test.map((text) => `?${text}`),
    filter,
  );
  const anyPath = fc
    .array(fc.array(selector, { minLength: 1, maxLength: 2 }), { maxLength: 4 })
    .map((segments) => `$${segments.map((parts) => `[${parts.join(", ")}]`).join("")}`);

  it("is what json-p3 finds", () => {
    const environment = new jsonP3.JSONPathEnvironment();
    fc.assert(
      fc.property(anyPath, json, (text, document) => {
        const expected = environment.query(text, document as JSONValue).values();
        expect(found(text, JSON.stringify(document)), text).toEqual(expected);
      }),
      { numRuns: 3_000 },
    );
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

  it("finds what scanning finds, in its order, however often it is asked", () => {
    fc.assert(
      fc.property(fc.array(element, { maxLength: 12 }), fc.constantFrom(...members), text, (list, member, wanted) => {
        const document = parsed(JSON.stringify(list));
        // With the sides the other way round it scans.
        const scan = path(`$[?'${wanted}' == ${member}]`).find(document);
        const lookup = path(`$[?${member} == '${wanted}']`);
        for (let i = 0; i < 2; ++i) expect(lookup.find(document)).toEqual(scan);
      }),
    );
  });

  it("looks into objects too", () => {
    expect(found("$[?@.s == 'a'].p", '{"x":{"s":"a","p":1},"y":{"s":"b","p":2}}')).toEqual([1]);
  });

  it("costs the same the first and every other time, and as much as there is to scan", () => {
    const list = JSON.stringify(Array.from({ length: 1_000 }, (_, i) => ({ s: String(i) })));
    const document = parsed(list);
    const cost = () => {
      const budget = { steps: MAX_STEPS };
      path("$[?@.s == '7']").find(document, budget);
      return MAX_STEPS - budget.steps;
    };
    const first = cost();
    expect(first).toBeGreaterThan(4_000);
    expect(cost()).toBe(first);
  });
});
