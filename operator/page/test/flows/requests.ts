import { simulateQuery } from "@dataset-oracle/protocol";
import type { Page } from "playwright-core";
import type { Address } from "viem";
import { test } from "vitest";
import { type Injection, installWallet, type WalletAnswers } from "../support/fake-wallet.js";
import { formOf, pressUntil, type TestEnvironment, visit } from "../support/visit.js";

/** Asking for a fresh value, and sending it with a browser wallet. */
export function requestFlows(environment: () => TestEnvironment): void {
  /** Returns the temperature in a city, which no feed updates: a request for it alone sends it. */
  function unfed(city: string): { readonly dataset: Address; readonly key: string } {
    const { numbers: dataset, examples } = environment().devnet.webOracle;
    const example = examples.find(({ name }) => name === "temperature")?.key ?? "";
    return { dataset, key: example.replace("London", city) };
  }
  const stored = (point: ReturnType<typeof unfed>) => simulateQuery(environment().chain, point);

  test("with the keyboard alone an update is requested, and shown and announced: asked, reports, signed, sent, mined", async ({
    expect,
  }) => {
    const point = unfed("Quito");
    const { page, expectAccessible, end } = await visit(environment(), `/42/${point.dataset}`);
    const lookUp = page.getByLabel("Any other key");
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
    await tabTo(() => lookUp.evaluate((field) => field === document.activeElement));
    await keyboard.type(point.key);
    await keyboard.press("Enter");
    const form = formOf(page);
    const first = form.getByRole("radio").first();
    await first.waitFor();
    await tabTo(() => first.evaluate((field) => field === document.activeElement));
    await keyboard.press("ArrowDown");
    expect(await form.getByRole("radio", { name: /You/ }).isChecked()).toBe(true);
    await keyboard.press("ArrowUp");
    await keyboard.press("Tab");
    expect(await focused()).toBe("Update now");
    await pressUntil(form.locator(".result"), () => keyboard.press("Enter"));
    const steps = await form.getByRole("listitem").allTextContents();
    expect(steps.map((step) => step.replace(/0x[^,]+|[\d,]*\d{2,}/, "#"))).toEqual([
      "Asked 4 data providers, done",
      expect.stringMatching(/^Reports [34] of 4 received, done$/),
      "Signed #, done",
      "Sent to the network, done",
      "Mined in block #, done",
    ]);
    expect(await stored(point)).toMatchObject({ status: "OK" });
    expect(await form.locator(".result").textContent()).toMatch(/^[\d.,]+ K OKRound/);
    await page.getByRole("status").getByText("The value is stored.").waitFor();
    await expectAccessible();
    await end();
  });

  /** Opens the form, and has a transaction made. */
  async function withTransaction(city: string, prepare?: (page: Page) => Promise<void>, problems: string[] = []) {
    const point = unfed(city);
    const path = `/42/${point.dataset}/${encodeURIComponent(point.key)}`;
    const opened = await visit(environment(), path, { problems, ...(prepare && { prepare }) });
    const form = formOf(opened.page);
    await form.getByRole("radio", { name: /You/ }).check();
    const heading = form.getByRole("heading", { name: "Send the transaction" });
    await pressUntil(heading, () => form.getByRole("button", { name: "Prepare the transaction" }).click());
    return { ...opened, form, point };
  }
  const MINED = /^The transaction was mined in block [\d,]+\. The value is stored\.$/;
  const ANNOUNCED: Injection = { names: ["Test Wallet"] };
  const walletOf = (answers: WalletAnswers, injection: Injection = ANNOUNCED) =>
    installWallet(answers, injection, environment().devnet.chain);

  test("without a wallet the transaction is shown for copying", async ({ expect }) => {
    const { form, point, expectAccessible, end } = await withTransaction("Lima");
    await form.getByText("No wallet shows itself to this page.").waitFor();
    await expectAccessible();
    const shown = (await form.locator("pre").textContent()) ?? "";
    expect(JSON.parse(shown)).toMatchObject({ chainId: "0x2a", to: point.dataset, value: "0x0" });
    await end();
  });

  // What a wallet can answer, and what it means: src/wallet/send-from-wallet.test.ts.
  test("a wallet that announces itself (EIP-6963) sends it, also after its owner has rejected it", async ({
    expect,
  }) => {
    const answers: WalletAnswers = { eth_sendTransaction: { error: { code: 4001, message: "Rejected." } } };
    const { form, point, end } = await withTransaction("Oslo", walletOf(answers));
    const send = form.getByRole("button", { name: "Send with Test Wallet" });
    await send.click();
    await form.getByText("You rejected the transaction in your wallet.").waitFor();
    expect((await stored(point)).updatedAt).toBe(0n);
    delete answers.eth_sendTransaction;
    await send.click();
    await form.getByText(MINED).waitFor();
    expect(await stored(point)).toMatchObject({ status: "OK" });
    await end();
  });

  test("a wallet that does not (window.ethereum) gets instructions where it lacks the chain, and sends it on that chain", async () => {
    const answers: WalletAnswers = {
      eth_chainId: { result: "0x1" },
      wallet_switchEthereumChain: { error: { code: 4902, message: "Unrecognized chain ID." } },
    };
    const { form, expectAccessible, end } = await withTransaction("Bern", walletOf(answers, { afterMs: 0 }));
    const send = form.getByRole("button", { name: "Send with Browser wallet" });
    await send.click();
    await form.getByText("Your wallet does not have the network Devnet.").waitFor();
    await form.getByText("Add the network with chain id 42").waitFor();
    await expectAccessible();
    answers.eth_chainId = { result: "0x2a" };
    await send.click();
    await form.getByText(MINED).waitFor();
    await end();
  });

  test("a wallet that is injected late is found, and one that is locked says so", async () => {
    const answers: WalletAnswers = { eth_requestAccounts: { result: [] } };
    const { form, expectAccessible, end } = await withTransaction("Riga", walletOf(answers, { afterMs: 2_000 }));
    await form.getByRole("button", { name: "Send with Browser wallet" }).click();
    await form.getByText("Your wallet gives this page no account.").waitFor();
    await expectAccessible();
    await end();
  });

  test("of several wallets each has its button, and one that throws after it sent is not asked to send again", async () => {
    const answers: WalletAnswers = {
      async eth_sendTransaction(passOn) {
        await passOn();
        return { error: { code: -32_603, message: "Internal error." } };
      },
    };
    const wallet = walletOf(answers, { names: ["One", "Two"] });
    const { form, end } = await withTransaction("Kyiv", wallet);
    await form.getByRole("button", { name: "Send with One" }).waitFor();
    await form.getByRole("button", { name: "Send with Two" }).click();
    await form.getByText(MINED).waitFor();
    await end();
  });

  test("a wallet whose chain id changes a while after it has switched sends on the new chain", async () => {
    let looks = 0;
    const answers: WalletAnswers = {
      eth_chainId: (passOn) => (++looks > 3 ? passOn() : Promise.resolve({ result: "0x1" })),
      wallet_switchEthereumChain: { result: null },
    };
    const { form, end } = await withTransaction("Baku", walletOf(answers));
    await form.getByRole("button", { name: "Send with Test Wallet" }).click();
    await form.getByText(MINED).waitFor();
    await end();
  });

  test("once the operator has been updated, and the page's old files are gone, the page says to reload it", async () => {
    const { page, form, end } = await withTransaction("Rome", walletOf({}), ["status of 404"]);
    await page.route("**/assets/send-*.js", (route) => route.fulfill({ status: 404 }));
    await form.getByRole("button", { name: "Send with Test Wallet" }).click();
    await form.getByText("This part of the page could not be loaded.").waitFor();
    await end();
  });
}
