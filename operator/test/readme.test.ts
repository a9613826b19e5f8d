import { readFileSync } from "node:fs";
import { join } from "node:path";
import { metricsInTable, metricsOf } from "@dataset-oracle/devnet/metrics-table";
import { expect, test } from "vitest";
import { startOperator } from "./support/operator.js";

const README = readFileSync(join(import.meta.dirname, "..", "README.md"), "utf8");

test("the README lists every metric with its type and labels, and no other", async () => {
  const { registry } = await startOperator([]);
  expect(metricsOf(registry)).toEqual(metricsInTable(README));
});
