import { test } from "vitest";
import { findViolations } from "../support/axe.js";
import { formOf } from "../support/find-request-form.js";
import type { TestEnvironment } from "../support/test-environment.js";
import { visit } from "../support/visit.js";

const PHONE = { width: 360, height: 740 };

/** The page in both colour schemes, on a phone, and for screen readers; and the operator's page about its API. */
export function accessibilityFlows(environment: () => TestEnvironment): void {
  const addresses: Readonly<Record<string, () => string>> = {
    home: () => "/",
    dataset: () => `/42/${environment().devnet.dataset}`,
    "dataset-of-specs": () => `/42/${environment().devnet.webOracle.numbers}`,
    point: () => `/42/${environment().devnet.dataset}/SPOTPX%2FETH-USD`,
    nowhere: () => "/nowhere",
  };

  // Each page is opened once: only the colours and the width change.
  test.for(Object.keys(addresses))(
    "of %s: axe finds no serious problem, and nothing is wider than a phone",
    async (name, { expect }) => {
      const { devnet, browser } = environment();
      const at = addresses[name]?.() ?? "";
      const { page, picture, expectAccessible, end } = await visit(browser, devnet.operator.url, {
        at,
        // Scrollbars take no width, whatever the size.
        isMobile: true,
      });
      await page.getByText("Live", { exact: true }).waitFor();
      if (name === "point") {
        await page.locator("canvas").waitFor();
        await page.getByText(/^Show as a table/).click();
      }
      if (name === "dataset") {
        await formOf(page).getByRole("radio", { name: /You/ }).check();
        await formOf(page).getByRole("button", { name: "Prepare the transaction" }).click();
        await formOf(page).getByRole("heading", { name: "Send the transaction" }).waitFor({ timeout: 30_000 });
      }
      await expectAccessible();
      await picture(`${name}-light`);
      await page.emulateMedia({ colorScheme: "dark" });
      await expectAccessible(["color-contrast"]);
      await picture(`${name}-dark`);
      await page.setViewportSize(PHONE);
      // A plot takes its width after its first frame.
      await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(PHONE.width);
      await page.emulateMedia({ colorScheme: "light" });
      await picture(`${name}-phone`);
      await end();
    },
  );

  test("of the API page: axe finds no problem", async ({ expect }) => {
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
