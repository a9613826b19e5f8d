import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults, Result } from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

/** Run through the debugger, because the page's CSP forbids foreign scripts. */
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Returns the accessibility problems that axe finds in a page, by all of its rules or by some. */
export async function findViolations(page: Page, rules?: readonly string[]): Promise<Result[]> {
  await page.evaluate(`${AXE};0`);
  const options = { resultTypes: ["violations"], ...(rules && { runOnly: rules }) };
  const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(options)})`);
  return violations;
}

/** Fails if axe finds a serious problem, by all of its rules or by some. */
export async function expectAccessible(page: Page, rules?: readonly string[]): Promise<void> {
  const violations = await findViolations(page, rules);
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  expect(
    serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`),
    page.url(),
  ).toEqual([]);
}
