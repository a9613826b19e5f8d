import { simulateQuery } from "@dataset-oracle/protocol";
import { test } from "vitest";
import { installWallet, walletOf } from "../support/fake-wallet.js";
import { formOf } from "../support/find-request-form.js";
import type { TestEnvironment } from "../support/test-environment.js";
import { visit } from "../support/visit.js";

const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };

/** Building a request spec: described, tried, sampled, published and asked for. */
export function specBuilderFlows(environment: () => TestEnvironment): void {
  test("builds, tries, samples, publishes and requests a spec, with the keyboard alone", async ({ expect }) => {
    const { devnet, browser, chain } = environment();
    const account = (await chain.getAddresses()).at(-2) ?? "";
    const { page, picture, expectAccessible, end } = await visit(browser, devnet.operator.url, {
      at: `/42/${devnet.webOracle.numbers}`,
      viewport: DESKTOP,
      isMobile: true,
      prepare: installWallet(walletOf(devnet.chain, account)),
      // The engine's refusals are problem answers.
      problems: ["status of 422"],
    });
    const { keyboard } = page;
    await page.getByRole("link", { name: "Build a request spec" }).press("Enter");
    await page.getByRole("heading", { name: "Build a request spec", level: 1 }).waitFor();
    const write = async (label: string, text: string) => {
      const field = page.getByLabel(label, { exact: true });
      await field.focus();
      await keyboard.press("ControlOrMeta+a");
      await keyboard.insertText(text);
    };
    const trial = page.getByRole("region", { name: "2. Try it" });
    const advice = page.getByRole("region", { name: "3. See if providers agree" });
    const retry = () => trial.getByRole("button", { name: "Try it now" }).press("Enter");

    // Each problem is at its field, and the first one has the cursor.
    await retry();
    await trial.getByText("Correct what is marked above").waitFor();
    const title = page.getByLabel("Title", { exact: true });
    expect(await title.getAttribute("aria-invalid")).toBe("true");
    expect(await title.evaluate((field) => field === field.ownerDocument.activeElement)).toBe(true);
    await picture("spec-builder-problem-light");
    await write("Title", "How warm a city is");
    await retry();
    const url = page.getByLabel("URL", { exact: true });
    await expect.poll(() => url.getAttribute("aria-invalid")).toBe("true");
    expect(await title.getAttribute("aria-invalid")).toBe("false");

    await write("Decimals kept", "1");
    await write("Unit", "K");
    await page.getByRole("button", { name: "Add a variable" }).press("Enter");
    await write("Name", "city");
    await write("URL", "https://api.weather.example/now?city={city}");
    await write("Path of the value", "$.air.celsius");
    await write("Argument: city", "London");
    await keyboard.press("Enter");
    await trial.getByText("Fetched").waitFor();
    // The step that failed, and the field that it is about.
    expect(await trial.locator("li.bad").first().textContent()).toContain("Selected");
    expect(await page.getByLabel("Path of the value", { exact: true }).getAttribute("aria-invalid")).toBe("true");

    // The same document as JSON.
    await page.getByRole("radio", { name: "Form" }).focus();
    await keyboard.press("ArrowRight");
    const json = page.getByLabel("The document");
    const document = await json.inputValue();
    expect(JSON.parse(document)).toMatchObject({ unit: { symbol: "K", decimals: 1 }, variables: [{ name: "city" }] });
    await write("The document", document.slice(1));
    await page.getByText("This is not JSON").waitFor();
    await retry();
    for (const region of [trial, advice]) await region.getByText("Correct the document first.").waitFor();
    expect(await trial.getByText("Trying").count()).toBe(0);
    await write("The document", document.replace("$.air.celsius", "$.air.kelvin"));
    await page.getByRole("radio", { name: "JSON" }).focus();
    await keyboard.press("ArrowLeft");
    expect(await page.getByLabel("Path of the value", { exact: true }).inputValue()).toBe("$.air.kelvin");

    await retry();
    await trial.getByText("Scaled", { exact: true }).waitFor();
    const steps = await trial.getByRole("region", { name: "Source 1" }).getByRole("listitem").allTextContents();
    expect(steps).toEqual([
      expect.stringMatching(/^Fetched HTTP 200, \d+ bytes in \d+ ms /),
      expect.stringMatching(/^Selected "\d+\.\d\d" at \$\.air\.kelvin/),
      expect.stringMatching(/^Scaled \d+\.\d K which is \d+/),
    ]);
    const shown = await trial.locator(".big").textContent();
    const facts = await trial.locator("dd code").allTextContents();
    const [output = "", key = ""] = facts;
    expect(key).toMatch(/^WEB\/[0-9a-f]{64}\/London$/);

    await advice.getByRole("button", { name: "Sample the providers" }).press("Enter");
    await advice.getByRole("progressbar").waitFor();

    const publish = page.getByRole("region", { name: "4. Publish it" });
    await publish.getByRole("button", { name: "Publish with Test Wallet" }).press("Enter");
    await publish.getByText(/^The transaction was mined in block \d+\. The spec is published\.$/).waitFor();
    const form = formOf(page);
    expect(await form.getByLabel("Key as text").inputValue()).toBe(key);
    await form.getByRole("button", { name: "Update now" }).press("Enter");
    await form.locator(".result").waitFor();
    expect(await form.locator(".result .value").textContent()).toBe(`${shown} OK`);
    const stored = await simulateQuery(chain, { dataset: devnet.webOracle.numbers, key });
    expect({ status: stored.status, output: stored.output }).toEqual({ status: "OK", output });
    expect(shown).toBe(`${(Number(stored.value) / 10).toFixed(1)} K`);

    await advice.getByText("Tolerances that would have held").waitFor();
    expect(await advice.locator("tr.chosen").textContent()).toMatch(/^1 % of this dataset(\d+) of \1/);
    await advice.getByText("Provider 4", { exact: true }).waitFor();

    await expectAccessible();
    await picture("spec-builder-light");
    await page.emulateMedia({ colorScheme: "dark" });
    await expectAccessible(["color-contrast"]);
    await picture("spec-builder-dark");
    await page.setViewportSize(PHONE);
    await page.emulateMedia({ colorScheme: "light" });
    await expect.poll(() => page.evaluate(() => globalThis.document.documentElement.scrollWidth)).toBe(PHONE.width);
    await picture("spec-builder-phone");
    await end();
  });
}
