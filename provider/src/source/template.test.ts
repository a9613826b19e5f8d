import { describe, expect, it } from "vitest";
import { compileTemplate } from "./template.js";

const compile = (text: string) => compileTemplate(text, ["base", "quote"]);

describe("a url template", () => {
  it("is filled with percent-encoded values, so that none can change the url's structure", () => {
    const template = compile("https://api.example.com/v1/{base}?q={quote}");
    if (!template.ok) throw new Error(template.problem);
    expect(template.value.origin).toBe("https://api.example.com");
    expect(template.value.fill({ base: "a/../b", quote: "c&d=#e" })).toBe(
      "https://api.example.com/v1/a%2F..%2Fb?q=c%26d%3D%23e",
    );
  });

  const refused = [
    "http://api.example.com/{base}{quote}",
    "https://api.example.com:8443/{base}{quote}",
    "https://user@api.example.com/{base}{quote}",
    "https://{base}.example.com/{quote}",
    "https://api.example.com{base}/{quote}",
    "https://127.0.0.1/{base}{quote}",
    "https://[::1]/{base}{quote}",
    "https://0x7f000001/{base}{quote}",
    "https://localhost/{base}{quote}",
    "https://API.example.com/{base}{quote}",
    "https://api.example.com",
    "{base}{quote}",
  ];
  for (const text of refused) {
    it(`has https, a plain host name and nothing else before its path: ${text}`, () => {
      expect(compile(text)).toMatchObject({ ok: false, problem: expect.stringContaining("begins with") });
    });
  }

  it("has each of its variables, and no other", () => {
    expect(compile("https://api.example.com/{base}")).toMatchObject({
      problem: expect.stringContaining("{quote} is missing"),
    });
    expect(compile("https://api.example.com/{base}{quote}{key}")).toMatchObject({
      problem: expect.stringContaining("{key} is not a variable"),
    });
    expect(compile("https://api.example.com/{base}{quote}}")).toMatchObject({
      problem: expect.stringContaining("stands alone"),
    });
  });
});
