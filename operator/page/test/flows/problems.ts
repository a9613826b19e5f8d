import type { NetworkOverview, OverviewAnswer } from "@dataset-oracle/protocol/http-schemas/overview";
import type { Page, Route } from "playwright-core";
import { stringToHex } from "viem";
import { test } from "vitest";
import { formOf, type TestEnvironment, visit } from "../support/visit.js";

const isOverview = (url: URL) => url.pathname === "/overview";

/** Answers a request with a problem. */
const problem = (status: number, code: string, more: object = {}) => {
  const headers = { "retry-after": "33", "content-type": "application/problem+json" };
  const body = JSON.stringify({ status, code, title: "No.", detail: "Not now.", ...more });
  return (route: Route) => route.fulfill({ status, headers, body });
};

/** Has the page see another state of the only network than the operator's. */
const see = (page: Page, change: (network: NetworkOverview) => object) =>
  page.route(isOverview, async (route) => {
    const response = await route.fetch();
    const { time, networks } = (await response.json()) as OverviewAnswer;
    await route.fulfill({ response, json: { time, networks: networks.map((one) => ({ ...one, ...change(one) })) } });
  });

/** The page's words about problems of the operator and the chain. */
export function problemFlows(environment: () => TestEnvironment): void {
  test("a request that fails: why, which providers failed, when to try again, and what to do until then", async ({
    expect,
  }) => {
    const { dataset } = environment().devnet;
    const { page, expectAccessible, end } = await visit(environment(), `/42/${dataset}`, {
      problems: ["status of 429", "status of 503", "net::ERR_"],
    });
    const key = page.getByLabel("Any other key");
    // All faults of keys: src/format/key-problem.test.ts.
    await key.fill("spotpx/eth-usd");
    await page.getByText("Write the key in upper case: SPOTPX/ETH-USD.").waitFor();
    expect(await key.getAttribute("aria-invalid")).toBe("true");
    await page.getByRole("button", { name: "Look it up" }).click();
    expect(await formOf(page).count()).toBe(0);
    await key.fill("  SPOTPX/FOO-BAR ");
    await page.getByRole("button", { name: "Look it up" }).click();
    const form = formOf(page);
    const notice = form.locator(".note.bad");
    const update = form.getByRole("button", { name: "Update now" });
    await update.click();
    // The operator's own answer.
    await notice.getByText("No gas was spent. Choose one of the listed keys").waitFor();

    const failures = environment().devnet.providers.map(({ address }) => {
      return { provider: address, host: null, reason: "timeout", detail: "no answer" };
    });
    const answers: [(route: Route) => Promise<void>, words: string][] = [
      [problem(429, "gas_budget_spent"), "You can send the transaction yourself"],
      [problem(503, "out_of_funds"), "The operator's account has too little Ether."],
      [problem(503, "no_quorum", { failures }), "Nothing was sent. Try again in a few seconds."],
      [(route) => route.abort(), "The operator does not answer. Check your connection and try again."],
    ];
    for (const [answer, words] of answers) {
      await page.route("**/data/request", answer);
      await update.click();
      await notice.getByText(words).waitFor();
      if (words.startsWith("You can send")) await notice.getByText("Try again in 33 s.").waitFor();
      if (words.startsWith("Nothing was sent")) expect(await notice.getByRole("listitem").count()).toBe(4);
    }
    const reports = environment().devnet.providers.map(({ address: provider }) => {
      return { provider, value: "0", signature: `0x${"11".repeat(65)}`, reason: "/sources/0: unreachable: ENOTFOUND" };
    });
    const stated = { network_id: 42, dataset, key: "SPOTPX/FOO-BAR", key_hex: stringToHex("SPOTPX/FOO-BAR") };
    const answer = { ...stated, status: "NOT_AVAILABLE", value: "0", timestamp: 1_790_000_000, reports };
    const json = { ...answer, transaction_hash: `0x${"ab".repeat(32)}` };
    await page.route("**/data/request", (route) => route.fulfill({ json }));
    await update.click();
    await form.getByText("Why providers have no value: /sources/0: unreachable: ENOTFOUND.").waitFor();
    await expectAccessible();
    await end();
  });

  // Each state is seen at the next poll.
  test("no account, too few providers, a chain that cannot be read or an operator that is gone: values stay visible", async ({
    expect,
  }) => {
    const { page, end } = await visit(environment(), `/42/${environment().devnet.dataset}/SPOTPX%2FETH-USD`, {
      problems: ["status of 429", "net::ERR_"],
      prepare: (opened) => see(opened, () => ({ broadcasts: false })),
    });
    await page.getByText("It has no account on this network.").waitFor();
    const operator = formOf(page).getByRole("radio", { name: /The operator/ });
    expect(await operator.isDisabled()).toBe(true);
    await page.getByRole("navigation", { name: "Breadcrumb" }).getByText("Financial").click();

    await see(page, ({ datasets }) => ({
      datasets: datasets.map(({ providers, ...dataset }) => {
        return { ...dataset, providers: providers.map((one, i) => ({ ...one, failing: i < 2 ? "timeout" : null })) };
      }),
    }));
    await page.getByText("Updates of Financial are halted.").waitFor();
    await page.getByText("Only 2 of 4 data providers answer this operator, and 3 must sign.").waitFor();

    await see(page, ({ datasets }) => ({
      readable: false,
      datasets: datasets.map((one) => ({ ...one, points: null })),
    }));
    await page.getByText("Devnet cannot be read now.").waitFor();
    expect(await page.locator("td.value", { hasText: "USD" }).count()).toBeGreaterThan(5);

    await page.route(isOverview, (route) => route.abort());
    await page.getByText("The operator does not answer. The page retries automatically.").waitFor();
    expect(await page.locator(".note").count()).toBe(1);
    await page.route(isOverview, problem(429, "too_many_requests"));
    await page.getByText("The page continues automatically in 33 s.").waitFor();
    expect(await page.locator("td.value", { hasText: "USD" }).count()).toBeGreaterThan(5);
    await end();
  });
}
