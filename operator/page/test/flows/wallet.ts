import { simulateQuery } from "@dataset-oracle/protocol";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { visit } from "../support/visit.js";
import { installWallet, type WalletBehaviour, walletOf } from "../support/wallet.js";
import type { World } from "../support/world.js";
import { formOf } from "./form.js";

/** The operator that has no key sends nothing: no feed and no request of another test takes the round. */
export function walletFlows(here: () => World): void {
  let account: string;
  beforeAll(async () => {
    account = (await here().chain.getAddresses()).at(-1) ?? "";
  });

  /** Opens the form, has a transaction made, and gives back the button that sends it. */
  async function withTransaction(wallet: WalletBehaviour, key: string) {
    const { devnet, browser } = here();
    const opened = await visit(browser, devnet.operator.url, {
      at: `/42/${devnet.dataset}`,
      prepare: installWallet(wallet),
    });
    await makeTransaction(opened.page, key);
    const name = wallet.isAnnounced ? "Send with Test Wallet" : "Send with Browser wallet";
    return { ...opened, form: formOf(opened.page), send: opened.page.getByRole("button", { name }) };
  }

  async function makeTransaction(page: Page, key: string) {
    const form = formOf(page);
    await form.getByLabel("Key as text").fill(key);
    await form.getByRole("radio", { name: /You/ }).check();
    await form.getByRole("button", { name: "Make the transaction" }).click();
    await form.getByRole("heading", { name: "Send it" }).waitFor({ timeout: 30_000 });
  }

  test("that announces itself (EIP-6963) sends it, and the page waits until it is mined", async () => {
    const wallet = walletOf(here().devnet.chain, account);
    const key = "SPOTPX/DOGE-EUR";
    const { form, send, picture, end } = await withTransaction(wallet, "SPOTPX/BAT-USD");
    await send.click();
    await form.getByText(/^(It is mined in block \d+|The contract refused it)/).waitFor({ timeout: 30_000 });
    expect(wallet.asked.slice(0, 3)).toEqual(["eth_requestAccounts", "eth_chainId", "eth_sendTransaction"]);
    expect(key).toBeTruthy();
    await picture("wallet-mined-light");
    await end();
  });

  test("that is just there (window.ethereum) sends it, too", async () => {
    const { devnet, chain } = here();
    const wallet = walletOf(devnet.chain, account, { isAnnounced: false });
    const key = "SPOTPX/COMP-USD";
    const before = await simulateQuery(chain, { dataset: devnet.dataset, key });
    const { form, send, end } = await withTransaction(wallet, key);
    await send.click();
    await form.getByText(/^It is mined in block \d+|^The contract refused it/).waitFor({ timeout: 30_000 });
    const after = await simulateQuery(chain, { dataset: devnet.dataset, key });
    expect(after.updatedAt).toBeGreaterThan(before.updatedAt);
    await end();
  });

  test("on another chain is asked to go to the right one", async () => {
    const wallet = walletOf(here().devnet.chain, account, { chainId: 1, knownChains: [1, 42] });
    const { form, send, end } = await withTransaction(wallet, "SPOTPX/CRV-USD");
    await send.click();
    await form.getByText(/^It is mined in block \d+|^The contract refused it/).waitFor({ timeout: 30_000 });
    expect(wallet.asked.slice(0, 5)).toEqual([
      "eth_requestAccounts",
      "eth_chainId",
      "wallet_switchEthereumChain",
      "eth_chainId",
      "eth_sendTransaction",
    ]);
    await end();
  });

  test("that does not know the chain is told about in words of use, and sends nothing", async () => {
    const wallet = walletOf(here().devnet.chain, account, { chainId: 1, knownChains: [1] });
    const { form, send, picture, expectAccessible, end } = await withTransaction(wallet, "SPOTPX/GRT-USD");
    await send.click();
    await form.getByText("Your wallet does not know Devnet.").waitFor();
    await form.getByText("Add the network with the chain id 42").waitFor();
    expect(wallet.asked).not.toContain("eth_sendTransaction");
    await expectAccessible();
    await picture("wallet-unknown-chain-light");
    await end();
  });

  test("that its owner refuses can be asked again", async () => {
    const wallet = walletOf(here().devnet.chain, account, { isRefusing: true });
    const { form, send, end } = await withTransaction(wallet, "SPOTPX/ALGO-USD");
    await send.click();
    await form.getByText("You refused it in your wallet.").waitFor();
    wallet.isRefusing = false;
    await send.click();
    await form.getByText(/^It is mined in block \d+|^The contract refused it/).waitFor({ timeout: 30_000 });
    await end();
  });
}
