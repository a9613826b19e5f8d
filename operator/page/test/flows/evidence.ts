import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { test } from "vitest";
import { postDataRequest } from "../../../../devnet/test/post-data-request.js";
import type { TestEnvironment } from "../support/test-environment.js";
import { visit } from "../support/visit.js";

const run = promisify(execFile);
const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };

/** The evidence of each provider that signed, and its proof without a network. */
export function evidenceFlows(environment: () => TestEnvironment): void {
  test("shows why a provider signed its value, by keyboard, at a desk and on a phone", async ({ expect }) => {
    const { devnet, browser } = environment();
    const at = `/42/${devnet.dataset}/SPOTPX%2FETH-USD`;
    const visited = await visit(browser, devnet.operator.url, { at, viewport: DESKTOP, isMobile: true });
    const { page, picture, expectAccessible, end } = visited;
    const section = page.getByRole("region", { name: "Evidence" }).first();
    await section
      .getByRole("button", { name: /^Show the evidence of 0x/ })
      .first()
      .focus();
    await page.keyboard.press("Enter");
    await section.getByText("It matches the value that the provider signed.").waitFor();
    expect(await section.getByRole("heading", { level: 3 }).textContent()).toMatch(/^From Provider 1 0x/);
    expect(await section.getByText(/^The median of at least 2 sources/).count()).toBe(1);
    const sources = section.getByRole("table").last();
    expect(await sources.locator("tbody th").allTextContents()).toContain("kraken");
    expect(await sources.locator("tbody tr").first().textContent()).toMatch(/[\d,]+\.\d+.*used/);
    const fetched = section.locator("summary", { hasText: "GET https://api.kraken.com/" }).first();
    await fetched.focus();
    await page.keyboard.press("Enter");
    await section
      .locator("details[open]")
      .getByText(/^SHA-256 of its [\d,]+ characters/)
      .waitFor();
    await expectAccessible();
    for (const [name, viewport] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
      await page.setViewportSize(viewport);
      const width = () => page.evaluate(() => document.documentElement.scrollWidth);
      await expect.poll(width).toBeLessThanOrEqual(viewport.width);
      await picture(`evidence-${name}`);
    }

    const saving = page.waitForEvent("download");
    await section.getByRole("link", { name: "save the evidence" }).press("Enter");
    const file = await (await saving).path();
    const provider = join(ROOT, "provider/dist/main.js");
    const { stdout } = await run(process.execPath, [provider, "replay", file], { timeout: 30_000 });
    expect(JSON.parse(stdout)).toMatchObject({ key: "SPOTPX/ETH-USD", outcome: "OK", is_same: true });
    await end();
  });

  test("shows the request spec's rule and the answer of a Web Oracle value", async () => {
    const { devnet, browser } = environment();
    const [example] = devnet.webOracle.examples.filter(({ name }) => name === "temperature");
    const { dataset, key } = example as { dataset: string; key: string };
    await postDataRequest(devnet, { network_id: 42, dataset, key, broadcast: true });
    const at = `/42/${dataset}/${encodeURIComponent(key)}`;
    const { page, end } = await visit(browser, devnet.operator.url, { at });
    const section = page.getByRole("region", { name: "Evidence" }).first();
    await section
      .getByRole("button", { name: /^Show the evidence of 0x/ })
      .last()
      .click();
    await section.getByText("It matches the value that the provider signed.").waitFor();
    const rule = "the uint at $.air.kelvin, times 10 to the power of 2.";
    await section.getByText(rule).waitFor();
    await section.locator("summary", { hasText: "GET https://api.weather.example/now" }).click();
    await section.getByText('"kelvin"').waitFor();
    await end();
  });
}
