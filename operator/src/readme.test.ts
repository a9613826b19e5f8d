import { readFileSync } from "node:fs";
import { join } from "node:path";
import { OPERATOR_PROBLEM_CODES } from "@dataset-oracle/protocol/client/problem";
import { KindGuard, type TSchema } from "@sinclair/typebox";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { Balances } from "./balances.js";
import { OperatorConfig } from "./config.js";
import { Metrics } from "./metrics.js";
import { FAILURE_REASONS } from "./update/ask-provider.js";
import { USAGE } from "./usage.js";

const README = readFileSync(join(import.meta.dirname, "..", "README.md"), "utf8");

/** Every setting, by name. */
function settingsOf(schema: TSchema): [string, TSchema][] {
  if (KindGuard.IsArray(schema)) return settingsOf(schema.items);
  if (!KindGuard.IsObject(schema)) return [];
  return Object.entries(schema.properties).flatMap(([name, inner]) => [
    [name, inner] as [string, TSchema],
    ...settingsOf(inner),
  ]);
}

/** Returns the texts in backticks in one column of the rows that begin with a match of a pattern. */
function named(row: RegExp, column: number): string[] {
  const cells = README.split("\n").flatMap((line) => (row.test(line) ? [line.split("|")[column] ?? ""] : []));
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? "")).toSorted();
}

test.each(settingsOf(OperatorConfig))("the schema describes %s", (_, schema) => {
  expect(schema.description).toEqual(expect.any(String));
});

test("the README lists every setting, and no other", () => {
  const settings = settingsOf(OperatorConfig).map(([name]) => name);
  // These are described in the rows of `providers` and `peers`.
  const inside = ["address", "name", "url", "provider", "submitter"];
  expect(named(/^\| `[a-z][A-Za-z]*`/, 1)).toEqual(settings.filter((name) => !inside.includes(name)).toSorted());
  for (const name of inside) expect(README).toContain(`\`${name}\``);
});

test.each(
  settingsOf(OperatorConfig).flatMap(([name, { default: value }]) =>
    typeof value === "number" ? [[name, value]] : [],
  ),
)("the README has the default of %s", (name, value) => {
  const row = README.split("\n").find((line) => line.split("|")[1]?.includes(`\`${name}\``));
  expect(row?.split("|")[2]?.replaceAll(/[,`]/g, "").split(" ")).toContain(String(value));
});

test("the README has every variable of the environment that --help has", () => {
  const variables = USAGE.match(/OPERATOR_[A-Z_]*[A-Z]/g) ?? [];
  expect(new Set(variables).size).toBe(5);
  for (const name of variables) expect(README).toContain(`\`${name}`);
});

test("the README lists the code of every error, and no other", () => {
  expect(named(/^\| \d{3}/, 2)).toEqual(OPERATOR_PROBLEM_CODES.toSorted());
});

test("the README lists every way in which a provider fails, and no other", () => {
  const listed = README.match(/`reason` is one of\s+([^.]+)\./)?.[1];
  expect([...(listed ?? "").matchAll(/`(\w+)`/g)].map(([, name]) => name)).toEqual([...FAILURE_REASONS]);
});

test("the README lists every figure of its own, and no other", () => {
  const registry = new Registry();
  new Metrics(registry).watch([], new Balances([], Date.now), Date.now);
  const names = registry.getMetricsAsArray().map(({ name }) => name);
  expect(named(/^\| `operator_/, 1)).toEqual(names.toSorted());
});
