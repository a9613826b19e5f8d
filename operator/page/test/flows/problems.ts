import type { Page, Route } from "playwright-core";
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

  test("no quorum of an operator that has no account: it names each provider that failed, and how", async () => {
    const { lonely, browser } = environment();
    const { page, picture, end } = await visit(browser, lonely.url, { at: at() });
    expect(
      await formOf(page)
        .getByRole("radio", { name: /The operator/ })
        .isDisabled(),
    ).toBe(true);
    await page.getByText("It has no account on this network.").waitFor();
    const said = await askFor(page, "SPOTPX/UNI-USD", false);
    expect(await formOf(page).locator(".note li").count()).toBe(2);
    expect(said).toContain("no_quorum");
    await page.getByText("Updates of Financial are halted.").waitFor({ timeout: 30_000 });
    await page.getByText("Only 2 of 4 data providers answer this operator, and 3 must sign.").waitFor();
    await picture("problem-no-quorum-light");
    await end();
  });

  test("a problem that passes with time: it says when to try again, and what to do until then", async () => {
    const { devnet, browser } = environment();
    const { page, picture, end } = await visit(browser, devnet.operator.url, { at: at(), problems: ["status of 429"] });
    const refuse = (code: string) => (route: Route) => {
      const body = JSON.stringify({ status: 429, code, title: "No.", detail: "Not now." });
      const headers = { "retry-after": "33", "content-type": "application/problem+json" };
      return route.fulfill({ status: 429, headers, body });
    };
    await page.route("**/data/request", refuse("gas_budget_spent"));
    const said = await askFor(page, "SPOTPX/SHIB-USD");
    expect(said).toContain("You can send the transaction yourself");
    expect(said).toContain("Try again in 33 s.");
    await picture("problem-gas-budget-spent-light");
    await page.route(/\/overview\?/, refuse("too_many_requests"));
    await page.getByText("The values shown may be outdated.").waitFor({ timeout: 30_000 });
    await page.getByText("The page continues automatically in 33 s.").waitFor();
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
