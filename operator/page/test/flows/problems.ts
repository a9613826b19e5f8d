import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { formOf } from "../support/find-request-form.js";
import type { TestEnvironment } from "../support/test-environment.js";
import { visit } from "../support/visit.js";

/** The page explains problems helpfully. They come from real operators that are misconfigured or cut off. */
export function problemFlows(environment: () => TestEnvironment): void {
  const at = () => `/42/${environment().devnet.dataset}`;

  /** Asks for a key, and returns the page's words about the problem; nothing if a feed has just stored the round. */
  async function askFor(page: Page, key: string, isBroadcast = true): Promise<string> {
    const form = formOf(page);
    await form.getByLabel("Key", { exact: true }).fill(key);
    await form.getByRole("radio", { name: isBroadcast ? /The operator/ : /You/ }).check();
    await form.getByRole("button", { name: isBroadcast ? "Update now" : "Prepare the transaction" }).click();
    await form.locator(".steps").waitFor();
    await form.getByRole("button", { name: "Requesting" }).waitFor({ state: "hidden", timeout: 30_000 });
    return (await form.locator(".note.bad").allTextContents()).join();
  }

  test("a key that no provider serves", async () => {
    const { devnet, browser } = environment();
    const { page, picture, expectAccessible, end } = await visit(browser, devnet.operator.url, { at: at() });
    const said = await askFor(page, "SPOTPX/FOO-BAR");
    expect(said).toContain("No gas was spent. Choose one of the listed keys");
    expect(said).toContain("unknown_key");
    await expectAccessible();
    await picture("problem-unknown-key-light");
    await end();
  });

  test("no quorum: it names each provider that failed, and how", async () => {
    const { lonely, browser } = environment();
    const { page, picture, end } = await visit(browser, lonely.url, { at: at() });
    const said = await askFor(page, "SPOTPX/UNI-USD", false);
    expect(await formOf(page).locator(".note li").count()).toBe(2);
    expect(said).toContain("no_quorum");
    await page.getByText("Updates of Financial are halted.").waitFor({ timeout: 30_000 });
    await page.getByText("Only 2 of 4 data providers answer this operator, and 3 must sign.").waitFor();
    await picture("problem-no-quorum-light");
    await end();
  });

  test("an operator without an account cannot be chosen as sender, and the page says why", async () => {
    const { lonely, browser } = environment();
    const { page, end } = await visit(browser, lonely.url, { at: at() });
    const choice = formOf(page).getByRole("radio", { name: /The operator/ });
    expect(await choice.isDisabled()).toBe(true);
    await page.getByText("It has no account on this network.").waitFor();
    await end();
  });

  test("an operator has spent its gas budget, and then rate-limits this caller", async () => {
    const { strict, browser } = environment();
    const { page, picture, end } = await visit(browser, strict.url, { at: at(), problems: ["status of 429"] });
    let spent = "";
    for (let asked = 0; asked < 5 && spent === ""; asked++) spent = await askFor(page, "SPOTPX/SHIB-USD");
    expect(spent).toContain("gas_budget_spent");
    expect(spent).toContain("You can send the transaction yourself");
    let said = spent;
    for (let asked = 0; asked < 6 && !said.includes("too_many_requests"); asked++) {
      said = await askFor(page, "SPOTPX/SHIB-USD");
    }
    expect(said).toMatch(/Try again in \d+ s\./);
    await picture("problem-too-many-requests-light");
    await page.evaluate(() => Promise.all(Array.from({ length: 5 }, () => fetch("overview"))));
    await page.getByText("The values shown may be outdated.").waitFor({ timeout: 30_000 });
    expect(await page.getByText("The page continues automatically").textContent()).toMatch(/in \d+ s/);
    await end();
  });

  test("an operator that is gone before anything was asked, and then comes back", async ({ expect }) => {
    const { devnet, browser } = environment();
    const { page, picture, expectAccessible, end } = await visit(browser, devnet.operator.url, {
      at: `${at()}/SPOTPX%2FETH-USD`,
      problems: ["net::ERR_"],
    });
    const history = page.getByRole("region", { name: "History", exact: true });
    await history.locator("canvas").waitFor();
    await page.waitForLoadState("networkidle");
    await page.context().setOffline(true);
    await page.clock.install();
    await history.getByRole("radio", { name: "1 h" }).focus();
    await page.keyboard.press("ArrowRight");
    await page.getByText("The values shown may be outdated.").waitFor();
    const words =
      "The history cannot be read now.The operator does not answer. The page retries automatically.unreachable";
    await expect.poll(() => history.locator(".note").textContent()).toBe(words);
    const gone = await askFor(page, "SPOTPX/ETH-USD");
    expect(gone).toContain("The operator does not answer. Check your connection and try again.");
    await expectAccessible();
    await picture("problem-offline-light");
    const attempt = async () => {
      const failed = page.waitForEvent("requestfailed", (asked) => asked.url().includes("/history?"));
      await page.clock.fastForward(15_000);
      await failed;
    };
    await attempt();
    await attempt();
    await attempt();
    await page.context().setOffline(false);
    await page.clock.fastForward(15_000);
    await history.getByText("Read from the contract's events: the last day.").waitFor();
    await history.locator(".note").waitFor({ state: "hidden" });
    await end();
  });

  // One after the other, because each step takes more from the same operator.
  test("an operator whose account is empty, then its chain cannot be read, and then it is gone", async ({ expect }) => {
    const { poor, browser } = environment();
    const { page, picture, expectAccessible, end } = await visit(browser, poor.url, {
      at: at(),
      problems: ["status of 502", "net::ERR_"],
    });
    let empty = "";
    for (let asked = 0; asked < 5 && empty === ""; asked++) empty = await askFor(page, "SPOTPX/SUI-USD");
    expect(empty).toContain("The operator's account has too little Ether.");
    expect(empty).toContain("out_of_funds");

    poor.rpc.faults.set("*", "HTTP 500");
    await page.getByText("Devnet cannot be read now.").waitFor({ timeout: 30_000 });
    // The last known values stay visible.
    expect(await page.locator("td.value", { hasText: "USD" }).count()).toBeGreaterThan(5);
    const unread = await askFor(page, "SPOTPX/SUI-USD", false);
    expect(unread).toContain("rpc_failed");
    await expectAccessible();
    await picture("problem-chain-light");
    poor.rpc.faults.delete("*");
    // The page keeps the values it has, and continues by itself.
    await page.getByText("Devnet cannot be read now.").waitFor({ state: "hidden", timeout: 30_000 });

    await page.goto(`${poor.url}/#${at()}/SPOTPX%2FSUI-USD`);
    await page.getByRole("heading", { name: "SPOTPX/SUI-USD" }).waitFor();
    await page.locator("canvas").waitFor();
    await poor.close();
    await page.getByText("The values shown may be outdated.").waitFor({ timeout: 30_000 });
    await expect.poll(() => page.locator(".note").count()).toBe(1);
    const gone = await askFor(page, "SPOTPX/SUI-USD");
    expect(gone).toContain("The operator does not answer. Check your connection and try again.");
    await picture("problem-gone-light");
    await end();
  });
}
