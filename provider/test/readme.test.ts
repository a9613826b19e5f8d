import { readdirSync, readFileSync } from "node:fs";
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

it("every metric has a row in the README", () => {
  const files = ["../src/metrics.ts", "../../service/src/http-server/metrics.ts"];
  const source = files.map((file) => readFileSync(new URL(file, import.meta.url), "utf8")).join("\n");
  const names = [...source.matchAll(/name: "(\w+)"/g)].map(([, name]) => name);
  expect(names).toContain("provider_ready");
  const listed = rows.flatMap((row) => /^\| `((?:http|provider)_\w+)`/.exec(row)?.[1] ?? []);
  expect(listed.toSorted()).toEqual(names.toSorted());
});

it("the README's table has every error code with its status, and no other", () => {
  const service = new URL("../../service/src/", import.meta.url);
  const names = readdirSync(service, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  const files = names.map((file) => new URL(file, service));
  const source = [new URL("../src/problems.ts", import.meta.url), ...files]
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
  const used = [...source.matchAll(/status: ([\w.]+),\s+code: "(\w+)"/g)].map(([, status, code]) => {
    // Whatever else the framework refuses, with the status that it gives.
    return `${code === "bad_request" ? "4xx" : status} ${code}`;
  });
  expect(used).toContain("422 unknown_key");
  const listed = readme.split("\n").flatMap((line) => {
    const [, status, codes] = /^\| (\dxx|\d{3}) +\| (`.*?`) *\|/.exec(line) ?? [];
    return [...(codes ?? "").matchAll(/`(\w+)`/g)].map(([, code]) => `${status} ${code}`);
  });
  expect(listed.toSorted()).toEqual([...new Set(used)].toSorted());
});
