import { describe, expect, test } from "vitest";
import { compileBody, compileUrl } from "./request-template.js";

const VARIABLES = ["base", "quote"];
const compile = (text: string) => compileUrl(text, VARIABLES);

function fill(template: ReturnType<typeof compileBody>, base: string, quote: string) {
  if (!template.ok) throw new Error(template.error);
  const filled = template.value.fill({ base, quote });
  return filled.ok ? filled.value : filled.error;
}

describe("a url template", () => {
  test("is filled with percent-encoded values, so that none can change the url's structure", () => {
    const template = compile("https://api.example.com/v1/{base}?q={quote}");
    expect(template).toMatchObject({ ok: true, value: { origin: "https://api.example.com" } });
    expect(fill(template, "a/../b", "c&d=#e")).toBe("https://api.example.com/v1/a%2F..%2Fb?q=c%26d%3D%23e");
    expect(fill(template, "it's", "(*!)")).toBe("https://api.example.com/v1/it%27s?q=%28%2A%21%29");
  });

  test("is refused when what comes out would be read as another url", () => {
    const template = compile("https://api.example.com/v1/{base}.{quote}/x");
    expect(fill(template, "a", "b")).toBe("https://api.example.com/v1/a.b/x");
    expect(fill(template, "", "")).toContain("would be sent as another URL");
  });

  test.each([
    "http://api.example.com/{base}{quote}",
    "https://api.example.com:8443/{base}{quote}",
    "https://user@api.example.com/{base}{quote}",
    "https://{base}.example.com/{quote}",
    "https://api.example.com{base}/{quote}",
    "https://127.0.0.1/{base}{quote}",
    "https://localhost/{base}{quote}",
    "https://API.example.com/{base}{quote}",
    "https://api.example.com",
  ])("is refused unless it starts with https, a plain host name and nothing else before its path: %s", (text) => {
    expect(compile(text)).toMatchObject({ ok: false, error: expect.stringContaining("must start with") });
  });

  test("is refused with an unknown variable, a stray brace, a space or a fragment", () => {
    expect(compile("https://api.example.com/{key}")).toMatchObject({
      error: expect.stringContaining("{key} is not a variable. The variables are: base, quote."),
    });
    for (const text of ["{base}}", "{}", "{ base }", "{1}", "a b", "#{base}"]) {
      expect(compile(`https://api.example.com/${text}`), text).toMatchObject({
        error: expect.stringContaining("braces only around variables"),
      });
    }
  });

  test.each(["a/../{base}", "./{base}", "%2e%2e/{base}", "a\\{base}", "ä", "?q='{base}'"])(
    "is refused if it would be sent differently: %s",
    (rest) => {
      const error = expect.stringContaining("must be written as it is sent");
      expect(compile(`https://api.example.com/${rest}`)).toMatchObject({ error });
    },
  );
});

describe("a body template", () => {
  test("has its variables in strings, where no value can be more than text", () => {
    const template = compileBody('{"a":{"b":"{base}","c":["x{quote}y"]},"{base}":1}', VARIABLES);
    const text = fill(template, 'a","b":"', "\\\n\u2028");
    expect(JSON.parse(text)).toEqual({ a: { b: 'a","b":"', c: ["x\\\n\u2028y"] }, 'a","b":"': 1 });
  });

  test.each(['{"a":{base}}', '{"a":1{base}}', "{base}", '"\\{base}"', '"\\u00{base}"', "a={base}", '["{key}"]', ""])(
    "is refused: %s",
    (text) => {
      expect(compileBody(text, VARIABLES).ok).toBe(false);
    },
  );

  test("may have braces around other text", () => {
    const query = '{"query":"{ pair(id: \\"{base}\\") { price } }"}';
    const filled = JSON.parse(fill(compileBody(query, VARIABLES), '"', ""));
    expect(filled).toEqual({ query: '{ pair(id: """) { price } }' });
  });
});
