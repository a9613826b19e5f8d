import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/foundry";
import { expect, test } from "vitest";

const page = readFileSync(join(ROOT, "docs/Invariants.md"), "utf8");
const rows = [...page.matchAll(/^\| I(\d+) \|.*\| (.*) \|$/gm)].map(([, number, tests]) => ({
  number,
  tests: tests ?? "",
}));
const named = rows.flatMap(({ tests }) => [...tests.matchAll(/`(\w+)`/g)].map(([, name]) => name));

const suites = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" }).filter((path) =>
  path.endsWith(".t.sol"),
);
const sources = suites.map((path) => readFileSync(join(ROOT, "test", path), "utf8")).join("\n");
const functions = new Set(
  [...sources.matchAll(/function ((?:test|testFuzz|invariant)_\w+)\(/g)].map(([, name]) => name),
);

test("the promises are numbered one after the other, each with a test", () => {
  expect(rows.length).toBeGreaterThan(15);
  expect(rows.map(({ number }) => Number(number))).toEqual(rows.map((_, index) => index + 1));
  for (const { tests } of rows) expect(tests).toMatch(/^`\w+`(, `\w+`)*$/);
});

test("every test that they name is there", () => {
  expect(named.filter((name) => !functions.has(name))).toEqual([]);
});

test("every stateful invariant is a promise", () => {
  const stateful = [...functions].filter((name) => name?.startsWith("invariant_"));
  expect(stateful.length).toBeGreaterThan(5);
  expect(stateful.filter((name) => !named.includes(name))).toEqual([]);
});
