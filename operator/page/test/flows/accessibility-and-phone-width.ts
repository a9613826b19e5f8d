import { test } from "vitest";
import { type TestEnvironment, visit } from "../support/visit.js";

const PHONE = { width: 360, height: 740 };

/** The page in both colour schemes, on a phone, and for screen readers. */
export function accessibilityFlows(environment: () => TestEnvironment): void {
  const paths: Readonly<Record<string, () => string>> = {
    home: () => "/",
    dataset: () => `/42/${environment().devnet.dataset}`,
    "dataset of specs": () => `/42/${environment().devnet.webOracle.numbers}`,
    point: () => `/42/${environment().devnet.dataset}/SPOTPX%2FETH-USD`,
  };

  // Each page is opened once: only the colours and the width change.
  test.for(Object.keys(paths))(
    "of %s: axe finds nothing, and nothing is wider than a phone",
    async (name, { expect }) => {
      // Scrollbars of a phone take no width, whatever the size.
      const { page, expectAccessible, end } = await visit(environment(), paths[name]?.(), { isMobile: true });
      await page.getByRole("heading", { level: 2 }).first().waitFor();
      if (name === "point") {
        await page.locator("canvas").waitFor();
        await page.getByText(/^Show as a table/).click();
      }
      await expectAccessible();
      await page.emulateMedia({ colorScheme: "dark" });
      await expectAccessible(["color-contrast"]);
      await page.setViewportSize(PHONE);
      // A plot takes its width after its first frame.
      await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(PHONE.width);
      await end();
    },
  );
}
