import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { mutate, readMutants } from "@dataset-oracle/tools/mutants";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { expect, test } from "vitest";

/** docs/Invariants.md numbers the promises; test/mutants.json names their guards and the tests that miss them. */

const page = readFileSync(join(ROOT, "docs/Invariants.md"), "utf8");
const invariants = [...page.matchAll(/^\| (I\d+) \|/gm)].map(([, id]) => id);

const suites = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" }).filter((path) =>
  path.endsWith(".sol"),
);
const sources = suites.map((path) => readFileSync(join(ROOT, "test", path), "utf8")).join("\n");
const functions = new Set(
  [...sources.matchAll(/function ((?:test|testFuzz|invariant)_\w+)\(/g)].map(([, name = ""]) => name),
);

test("the invariants are numbered one after the other", () => {
  expect(invariants.length).toBeGreaterThan(15);
  expect(invariants).toEqual(invariants.map((_, index) => `I${index + 1}`));
});

test("every invariant has a guard, and every guard protects an invariant that is on the page", () => {
  const guarded = new Set(readMutants().flatMap((mutant) => mutant.invariants));
  expect([...guarded].toSorted()).toEqual(invariants.toSorted());
});

test("every stateful invariant of the tests is to catch the removal of a guard", () => {
  const stateful = [...functions].filter((name) => name.startsWith("invariant_"));
  expect(stateful.length).toBeGreaterThanOrEqual(5);
  const catching = new Set(readMutants().flatMap(({ caughtBy }) => caughtBy));
  expect(stateful.filter((name) => !catching.has(name))).toEqual([]);
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
