import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { mutate, readMutants } from "@dataset-oracle/tools/mutants";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { expect, test } from "vitest";

/** docs/Invariants.md and test/mutants.json name tests of the contracts. */

const page = readFileSync(join(ROOT, "docs/Invariants.md"), "utf8");
const names = (cell = "") => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name ?? "");
const invariants = [...page.matchAll(/^\| (I\d+) \|.*\| (.*) \|$/gm)].map(([, id = "", tests = ""]) => ({ id, tests }));
const attacks = [
  ...page.slice(page.indexOf("## Attacks")).matchAll(/^\| (?!attack|--)(.*?) \| (.*) \| (`test.*) \|$/gm),
];
const named = invariants.flatMap(({ tests }) => names(tests));

const suites = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" }).filter((path) =>
  path.endsWith(".sol"),
);
const sources = suites.map((path) => readFileSync(join(ROOT, "test", path), "utf8")).join("\n");
const functions = new Set(
  [...sources.matchAll(/function ((?:test|testFuzz|invariant)_\w+)\(/g)].map(([, name]) => name),
);

test("the invariants are numbered one after the other, each with a test", () => {
  expect(invariants.length).toBeGreaterThan(15);
  expect(invariants.map(({ id }) => id)).toEqual(invariants.map((_, index) => `I${index + 1}`));
  for (const { tests } of invariants) expect(tests).toMatch(/^`\w+`(, `\w+`)*$/);
});

test("every test that they name is there", () => {
  expect(named.filter((name) => !functions.has(name))).toEqual([]);
});

test("every attack has a test that is there", () => {
  expect(attacks.length).toBeGreaterThan(30);
  expect(attacks.flatMap(([, , , tests]) => names(tests)).filter((name) => !functions.has(name))).toEqual([]);
});

test("every stateful invariant of the tests is on the page", () => {
  const stateful = [...functions].filter((name) => name?.startsWith("invariant_"));
  expect(stateful.length).toBeGreaterThan(5);
  expect(stateful.filter((name) => !named.includes(name ?? ""))).toEqual([]);
});

test("every test of an invariant is to catch the removal of one of its guards", () => {
  const unproven = invariants.flatMap(({ id, tests }) => {
    const guards = readMutants().filter(({ invariants }) => invariants.includes(id));
    return names(tests)
      .filter((name) => !guards.some(({ caughtBy }) => caughtBy.includes(name)))
      .map((name) => `${id} ${name}`);
  });
  expect(unproven).toEqual([]);
});

test("every guard stands once where the list of mutants says", () => {
  for (const mutant of readMutants()) {
    const source = readFileSync(join(ROOT, mutant.file), "utf8");
    expect(mutate(source, mutant), mutant.guard).not.toBe(source);
  }
});

test("every test that is to catch a mutant is there, and every mutant has one", () => {
  for (const { guard, caughtBy } of readMutants()) {
    expect(caughtBy.length, guard).toBeGreaterThan(0);
    expect(
      caughtBy.filter((name) => !functions.has(name)),
      guard,
    ).toEqual([]);
  }
});
