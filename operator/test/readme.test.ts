import { readFileSync } from "node:fs";
import { join } from "node:path";
import { metricsInTable, metricsOf } from "@dataset-oracle/devnet/metrics-table";
import { expect, test } from "vitest";
import { USAGE } from "../src/help-text.js";
import { FAILURE_REASONS } from "../src/reports/failures.js";
import { startOperator } from "./support/operator.js";

const README = readFileSync(join(import.meta.dirname, "..", "README.md"), "utf8");

test("the README has every variable of the environment that --help has", () => {
  const variables = USAGE.match(/OPERATOR_[A-Z_]*[A-Z]/g) ?? [];
  expect(new Set(variables).size).toBe(9);
  for (const name of variables) expect(README).toContain(`\`${name}`);
});

test("the README lists every way in which a provider fails, and no other", () => {
  const listed = README.match(/`reason` is one of\s+([^.]+)\./)?.[1];
  expect([...(listed ?? "").matchAll(/`(\w+)`/g)].map(([, name]) => name)).toEqual([...FAILURE_REASONS]);
});

test("the README lists every metric with its type and labels, and no other", async () => {
  const { registry } = await startOperator([]);
  expect(metricsOf(registry)).toEqual(metricsInTable(README));
});
