import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { mutate, readMutants } from "@dataset-oracle/tools/mutants";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { expect, test } from "vitest";

const suites = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" }).filter((path) =>
  path.endsWith(".sol"),
);
const sources = suites.map((path) => readFileSync(join(ROOT, "test", path), "utf8")).join("\n");
const functions = new Set(
  [...sources.matchAll(/function ((?:test|testFuzz|invariant)_\w+)\(/g)].map(([, name]) => name),
);

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
