import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { USAGE } from "../src/help-text.js";
import { FAILURE_REASONS } from "../src/reports/failures.js";
import { metricNames } from "./support/metric-names.js";

const README = readFileSync(join(import.meta.dirname, "..", "README.md"), "utf8");

/** Returns the texts in backticks in one column of the rows that begin with a match of a pattern. */
function named(row: RegExp, column: number): string[] {
  const cells = README.split("\n").flatMap((line) => (row.test(line) ? [line.split("|")[column] ?? ""] : []));
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? "")).toSorted();
}

test("the README has every variable of the environment that --help has", () => {
  const variables = USAGE.match(/OPERATOR_[A-Z_]*[A-Z]/g) ?? [];
  expect(new Set(variables).size).toBe(5);
  for (const name of variables) expect(README).toContain(`\`${name}`);
});

test("the README lists every way in which a provider fails, and no other", () => {
  const listed = README.match(/`reason` is one of\s+([^.]+)\./)?.[1];
  expect([...(listed ?? "").matchAll(/`(\w+)`/g)].map(([, name]) => name)).toEqual([...FAILURE_REASONS]);
});

test("the README lists every metric of the operator, and no other", async () => {
  expect(named(/^\| `operator_/, 1)).toEqual((await metricNames()).toSorted());
});
