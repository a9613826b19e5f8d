import { test } from "vitest";
import { findViolations } from "../support/axe.js";
import type { TestEnvironment } from "../support/test-environment.js";

/** The operator's page about its API. */
export function apiPageFlows(environment: () => TestEnvironment): void {
  test("has no accessibility problem that axe finds", async ({ expect }) => {
    const { devnet, browser } = environment();
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    await page.goto(`${devnet.operator.url}/docs/`);
    // One of each method, because axe takes long for all.
    for (const id of ["requestUpdate", "readDataPoint"]) {
      await page.locator(`#operations-data-${id} .opblock-summary-control`).click();
    }
    await expect.poll(() => page.locator("pre.microlight").count()).toBeGreaterThan(1);
    const violations = await findViolations(page);
    await context.close();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
  });
}
