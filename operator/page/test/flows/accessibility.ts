import { expect, test } from "vitest";
import { visit } from "../support/visit.js";
import type { World } from "../support/world.js";
import { formOf } from "./form.js";

const PHONE = { width: 360, height: 740 };

/** The page in both colour schemes, on a phone, and for screen readers. */
export function accessFlows(here: () => World): void {
  const pages = (): [string, string][] => {
    const { dataset, webOracle } = here().devnet;
    return [
      ["home", "/"],
      ["dataset", `/42/${dataset}`],
      ["dataset-of-specs", `/42/${webOracle.numbers}`],
      ["point", `/42/${dataset}/SPOTPX%2FETH-USD`],
      ["nowhere", "/nowhere"],
    ];
  };

  test.each(["light", "dark"] as const)("axe finds no serious problem on any page in %s", async (colorScheme) => {
    const { devnet, browser } = here();
    for (const [name, at] of pages()) {
      const { page, picture, expectAccessible, end } = await visit(browser, devnet.operator.url, { at, colorScheme });
      if (name === "point") await page.locator("canvas").waitFor();
      if (name === "point") await page.getByText(/^Show as a table/).click();
      // Only the colours differ.
      await expectAccessible(colorScheme === "light" ? undefined : ["color-contrast"]);
      await picture(`${name}-${colorScheme}`);
      await end();
    }
  });

  test("nothing is wider than a phone of 360 pixels", async () => {
    const { devnet, browser } = here();
    for (const [name, at] of pages()) {
      const { page, picture, end } = await visit(browser, devnet.operator.url, {
        at,
        viewport: PHONE,
        isMobile: true,
      });
      if (name === "point") await page.locator("canvas").waitFor();
      if (name === "dataset") {
        await formOf(page).getByRole("radio", { name: /You/ }).check();
        await formOf(page).getByRole("button", { name: "Prepare the transaction" }).click();
        await formOf(page).getByRole("heading", { name: "Send the transaction" }).waitFor({ timeout: 30_000 });
      }
      await page.getByText("Live", { exact: true }).waitFor();
      // A plot takes its width after its first frame.
      const widthOf = async () => [name, await page.evaluate(() => document.documentElement.scrollWidth)];
      await expect.poll(widthOf).toEqual([name, PHONE.width]);
      await picture(`${name}-phone`);
      await end();
    }
  });

  test("its policy is strict, and what is served says so", async () => {
    const { url } = here().devnet.operator;
    const { headers } = await fetch(`${url}/`);
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
        "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("cache-control")).toBe("no-cache");
  });
}
