import { simulateQuery } from "@dataset-oracle/protocol";
import type { Page } from "playwright-core";
import { type Address, stringToHex } from "viem";
import { expect, test } from "vitest";
import { formOf } from "../support/find-request-form.js";
import type { TestEnvironment } from "../support/test-environment.js";
import { visit } from "../support/visit.js";

/** All that the page's live region says, in order. */
async function listen(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const said: string[] = [];
    Object.assign(globalThis, { said });
    const region = document.querySelector("[role=status]");
    const note = () => said.push(region?.textContent ?? "");
    if (region) new MutationObserver(note).observe(region, { childList: true, characterData: true, subtree: true });
  });
  return () => page.evaluate("said") as Promise<string[]>;
}

/** Asking for a fresh value. */
export function requestFormFlows(environment: () => TestEnvironment): void {
  const datasetAt = () => `/42/${environment().devnet.dataset}`;
  /** Returns the temperature in a city, which no feed updates. */
  function unfed(city: string): { readonly dataset: Address; readonly key: string } {
    const { numbers: dataset, examples } = environment().devnet.webOracle;
    const example = examples.find(({ name }) => name === "temperature")?.key ?? "";
    return { dataset, key: example.replace("London", city) };
  }

  test("takes the key as text or in hex, and says what is wrong with it before anything is asked", async () => {
    const { devnet, browser } = environment();
    const asked: string[] = [];
    const prepare = async (page: Page) => {
      page.on("request", (request) => {
        if (request.method() === "POST") asked.push(request.url());
      });
    };
    const { page, picture, end } = await visit(browser, devnet.operator.url, { at: datasetAt(), prepare });
    const form = formOf(page);
    const text = form.getByLabel("Key", { exact: true });
    await text.fill(stringToHex("SPOTPX/SOL-USD"));
    await form.getByText("14 bytes.").waitFor();
    expect(await text.getAttribute("aria-invalid")).toBe("false");
    await text.fill("spotpx/eth-usd");
    await form.getByText("Write the key in upper case: SPOTPX/ETH-USD.").waitFor();
    await text.fill("  SPOTPX/ADA-USD ");
    expect(await text.inputValue()).toBe("SPOTPX/ADA-USD");
    await text.fill("SPOTPX/€-USD");
    expect(await text.getAttribute("aria-invalid")).toBe("true");
    await form.getByRole("button", { name: "Update now" }).click();
    await text.fill("");
    await form.getByRole("button", { name: "Update now" }).click();
    expect(await text.evaluate((field) => (field as HTMLInputElement).validity.valueMissing)).toBe(true);
    await picture("form-problem-light");
    expect(asked).toEqual([]);
    await end();
  });

  test("requests an update: asked, reports, signed, sent, mined, and the result", async () => {
    const { devnet, browser, chain } = environment();
    // No feed updates it: this request alone sends it.
    const { dataset, key } = unfed("Quito");
    const before = await simulateQuery(chain, { dataset, key });
    const { page, picture, expectAccessible, end } = await visit(browser, devnet.operator.url, {
      at: `/42/${dataset}`,
    });
    const said = await listen(page);
    const form = formOf(page);
    await form.getByLabel("Key", { exact: true }).fill(key);
    await form.getByRole("button", { name: "Update now" }).click();
    await form.locator(".result").waitFor();
    const steps = await form.getByRole("listitem").allTextContents();
    expect(steps.map((step) => step.replace(/0x[^,]+|\d{2,}/, "#"))).toEqual([
      "Asked 4 data providers, done",
      expect.stringMatching(/^Reports [34] of 4 received, done$/),
      "Signed #, done",
      "Sent to the network, done",
      "Mined in block #, done",
    ]);
    const { value, updatedAt } = await simulateQuery(chain, { dataset, key });
    expect(updatedAt).toBeGreaterThan(before.updatedAt);
    expect(value).toBeGreaterThan(0n);
    expect(await form.locator(".result").textContent()).toMatch(/^[\d.,]+ K OKRound/);
    expect(await said()).toEqual(
      // Reports that arrive together are announced together.
      expect.arrayContaining([
        "Asked 4 data providers.",
        expect.stringMatching(/^Received [1-4] of 4 reports\.$/),
        "The value is stored.",
      ]),
    );
    await expectAccessible();
    await picture("form-stored-light");
    await end();
  });

  test("is filled in and sent with the keyboard alone", async () => {
    const { devnet, browser } = environment();
    const { page, end } = await visit(browser, devnet.operator.url, { at: datasetAt() });
    const { keyboard } = page;
    const focused = () => page.evaluate(() => (document.activeElement as HTMLElement | null)?.textContent ?? "");
    const tabTo = async (isThere: () => Promise<boolean>) => {
      for (let presses = 0; presses < 60; presses++) {
        await keyboard.press("Tab");
        if (await isThere()) return;
      }
      throw new Error("The keyboard does not get there.");
    };
    await keyboard.press("Tab");
    expect(await focused()).toBe("Skip to content");
    await keyboard.press("Enter");
    const form = formOf(page);
    const text = form.getByLabel("Key", { exact: true });
    await tabTo(() => text.evaluate((field) => field === document.activeElement));
    await keyboard.press("ControlOrMeta+a");
    await keyboard.type("SPOTPX/LTC-USD");
    await tabTo(() =>
      form
        .getByRole("radio")
        .first()
        .evaluate((field) => field === document.activeElement),
    );
    await keyboard.press("ArrowDown");
    expect(await form.getByRole("radio", { name: /You/ }).isChecked()).toBe(true);
    await keyboard.press("ArrowUp");
    await keyboard.press("Tab");
    expect(await focused()).toBe("Update now");
    await keyboard.press("Enter");
    await form.locator(".result").waitFor({ timeout: 30_000 });
    await tabTo(async () => (await focused()) === "cast");
    await keyboard.press("Enter");
    await page.getByRole("region", { name: "Read it from code" }).getByText("DATASET=").waitFor();
    await end();
  });

  test("without a wallet shows the transaction to copy, and whoever sends it stores the value", async () => {
    const { devnet, browser, chain } = environment();
    const { dataset, key } = unfed("Lima");
    const { page, copied, picture, end } = await visit(browser, devnet.operator.url, { at: `/42/${dataset}` });
    const form = formOf(page);
    await form.getByLabel("Key", { exact: true }).fill(key);
    await form.getByRole("radio", { name: /You/ }).check();
    await form.getByRole("button", { name: "Prepare the transaction" }).click();
    await form.getByText("This browser has no wallet.").waitFor({ timeout: 30_000 });
    await form.getByRole("button", { name: "Copy the transaction" }).click();
    await picture("form-unsent-light");
    const sent = JSON.parse(await copied());
    expect(sent).toMatchObject({ chainId: "0x2a", to: dataset, value: "0x0" });
    const [from] = await chain.getAddresses();
    const params = [{ from, ...sent }] as const;
    const hash = (await chain.request({ method: "eth_sendTransaction", params } as never)) as `0x${string}`;
    expect((await chain.waitForTransactionReceipt({ hash })).status).toBe("success");
    expect((await simulateQuery(chain, { dataset, key })).status).toBe("OK");
    await end();
  });
}
