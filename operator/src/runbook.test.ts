import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const SOURCE = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
  .map((name) => readFileSync(join(import.meta.dirname, name), "utf8"))
  .join("\n");
const RUNBOOK = readFileSync(join(import.meta.dirname, "..", "..", "docs", "Operators.md"), "utf8");

/** What stands in backticks in the first column of its tables. */
const quoted = RUNBOOK.split("\n").flatMap((line) => {
  const cell = line.match(/^\| (.*?) \|/)?.[1] ?? "";
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text ?? "");
});

test.each(quoted.filter((text) => text.includes(" ")))('the operator says "%s"', (text) => {
  // The number of a network is only known when it is said.
  expect(SOURCE).toContain(text.replace(/ N$/, " "));
});

test("the runbook quotes the log", () => {
  expect(quoted.length).toBeGreaterThan(8);
});
