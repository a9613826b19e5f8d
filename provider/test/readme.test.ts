import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { ProviderConfig } from "../src/config.js";
import { SpotSourceSpec } from "../src/source/spot-source.js";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const rows = readme.split("\n").filter((line) => line.startsWith("| `"));

for (const [what, schema] of [
  ["configuration", ProviderConfig],
  ["source file", SpotSourceSpec],
] as const) {
  it(`every setting of a ${what} has a row in the README`, () => {
    for (const name of Object.keys(schema.properties)) {
      expect(
        rows.some((row) => row.split("|")[1]?.includes(`\`${name}\``)),
        name,
      ).toBe(true);
    }
  });
}

it("the README gives the defaults that are used", () => {
  const cells = rows.map((row) => row.split("|").map((cell) => cell.trim()));
  for (const [name, { default: value }] of Object.entries(ProviderConfig.properties)) {
    if (value === undefined) continue;
    const text = typeof value === "string" ? value : JSON.stringify(value);
    const documented = cells.find(([, setting]) => setting === `\`${name}\``)?.[2] ?? "";
    expect(documented.replaceAll("`", ""), name).toBe(text);
  }
});

it("the README lists every code of the provider's own problems", () => {
  const source = readFileSync(new URL("../src/problems.ts", import.meta.url), "utf8");
  const codes = [...source.matchAll(/code: "(\w+)"/g)].map(([, code]) => code);
  expect(codes).toContain("unknown_key");
  for (const code of codes) expect(readme).toContain(`\`${code}\``);
});
