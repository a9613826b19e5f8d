import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import * as openapi from "../src/api-description.js";
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

/** Returns the code of every problem in the OpenAPI document, after its status. */
const problemsIn = (responses: object) =>
  Object.entries(responses).flatMap(([status, response]) =>
    [...JSON.stringify(response).matchAll(/"const":"(\w+)"/g)].map(([, code]) => `${status} ${code}`),
  );

it("the README's table has every error code with its status, and no other", () => {
  const problems = Object.entries(openapi).filter(([name]) => name.endsWith("_PROBLEMS"));
  const documented = problems.flatMap(([, responses]) => problemsIn(responses));
  // Whatever else the framework refuses has the status that the framework gives.
  const own = documented.map((problem) => problem.replace(/^\d+ bad_request$/, "4xx bad_request"));
  const ofPaths = ["404 no_such_path", "405 method_not_allowed"];
  const listed = readme.split("\n").flatMap((line) => {
    const [, status, codes] = /^\| (\dxx|\d{3}) +\| (`.*?`) *\|/.exec(line) ?? [];
    return [...(codes ?? "").matchAll(/`(\w+)`/g)].map(([, code]) => `${status} ${code}`);
  });
  expect(listed.toSorted()).toEqual([...new Set([...own, ...ofPaths])].toSorted());
});
