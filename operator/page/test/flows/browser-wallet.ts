import { simulateQuery } from "@dataset-oracle/protocol";
import type { Address } from "viem";
import { beforeAll, expect, test } from "vitest";
import { installWallet, type WalletBehaviour, walletOf } from "../support/fake-wallet.js";
import { formOf } from "../support/find-request-form.js";
import type { TestEnvironment } from "../support/test-environment.js";
import { visit } from "../support/visit.js";

interface DataPoint {
  readonly dataset: Address;
  readonly key: string;
}

/** Sending an update with a browser wallet. */
export function walletFlows(environment: () => TestEnvironment): void {
  let account: string;
  beforeAll(async () => {
    account = (await environment().chain.getAddresses()).at(-1) ?? "";
  });

  /** Returns a data point that no feed updates: nobody else takes the round. */
  const unfed = (name: string): DataPoint => {
    const found = environment().devnet.webOracle.examples.find((example) => example.name === name);
    if (found === undefined) throw new Error(`The devnet has no example ${name}.`);
    // Other tests ask for the example itself.
    const key = name === "document" ? found.key.replace(/7$/, "8") : found.key.replace(/[^/]+$/, "Oslo");
    return { dataset: found.dataset, key };
  };
  const updatedAt = async ({ dataset, key }: DataPoint) =>
    (await simulateQuery(environment().chain, { dataset, key })).updatedAt;

  /** Opens the form, has a transaction made, and gives back the button that sends it. */
  async function withTransaction(wallet: WalletBehaviour, { dataset, key }: DataPoint, problems: string[] = []) {
    const { devnet, browser } = environment();
    const prepare = installWallet(wallet);
    const opened = await visit(browser, devnet.operator.url, { at: `/42/${dataset}`, prepare, problems });
    const form = formOf(opened.page);
    await form.getByLabel("Key", { exact: true }).fill(key);
    await form.getByRole("radio", { name: /You/ }).check();
    await form.getByRole("button", { name: "Prepare the transaction" }).click();
    await form.getByRole("heading", { name: "Send the transaction" }).waitFor();
    const name = wallet.isAnnounced ? "Send with Test Wallet" : "Send with Browser wallet";
    const mined = () => form.getByText(/^The transaction was mined in block \d+\. The value is stored\.$/).waitFor();
    return { ...opened, form, mined, send: form.getByRole("button", { name }) };
  }

  test("that announces itself (EIP-6963) sends it, and the page waits until it is mined", async () => {
    const wallet = walletOf(environment().devnet.chain, account);
    const point = unfed("temperature");
    const before = await updatedAt(point);
    const { send, mined, picture, end } = await withTransaction(wallet, point);
    await send.click();
    await mined();
    expect(wallet.asked.slice(0, 3)).toEqual(["eth_requestAccounts", "eth_chainId", "eth_sendTransaction"]);
    expect(await updatedAt(point)).toBeGreaterThan(before);
    await picture("wallet-mined-light");
    await end();
  });

  test("without an announcement (window.ethereum), on another chain, is asked to go to the right one", async () => {
    const settings = { isAnnounced: false, chainId: 1, knownChains: [1, 42] };
    const wallet = walletOf(environment().devnet.chain, account, settings);
    const { send, mined, end } = await withTransaction(wallet, unfed("raining"));
    await send.click();
    await mined();
    expect(wallet.asked.slice(0, 3)).toEqual(["eth_requestAccounts", "eth_chainId", "wallet_switchEthereumChain"]);
    await end();
  });

  test("that does not have the chain gets instructions", async () => {
    const wallet = walletOf(environment().devnet.chain, account, { chainId: 1, knownChains: [1] });
    const point = { dataset: environment().devnet.dataset, key: "SPOTPX/GRT-USD" };
    const { form, send, picture, expectAccessible, end } = await withTransaction(wallet, point);
    await send.click();
    await form.getByText("Your wallet does not have the network Devnet.").waitFor();
    await form.getByText("Add the network with chain id 42").waitFor();
    await expectAccessible();
    await picture("wallet-unknown-chain-light");
    await end();
  });

  test("whose owner rejects the transaction sends nothing, and can be asked again", async () => {
    const wallet = walletOf(environment().devnet.chain, account, { isRefusing: true });
    const point = unfed("document");
    const before = await updatedAt(point);
    const { form, send, mined, end } = await withTransaction(wallet, point);
    await send.click();
    await form.getByText("You rejected the transaction in your wallet.").waitFor();
    expect(await updatedAt(point)).toBe(before);
    wallet.isRefusing = false;
    await send.click();
    await mined();
    expect(await updatedAt(point)).toBeGreaterThan(before);
    await end();
  });

  test("cannot be used once the operator has been updated, and the page says to reload it", async () => {
    const wallet = walletOf(environment().devnet.chain, account);
    const point = { dataset: environment().devnet.dataset, key: "SPOTPX/DOT-USD" };
    const { page, form, send, end } = await withTransaction(wallet, point, ["status of 404"]);
    await page.route("**/assets/send-*.js", (route) => route.fulfill({ status: 404 }));
    await send.click();
    await form.getByText("This part of the page could not be loaded.").waitFor();
    expect(wallet.asked).toEqual([]);
    await end();
  });
}
