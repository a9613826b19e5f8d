import type { Page } from "playwright-core";

type WalletAnswer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } };

/**
 * What a test's wallet answers to some methods, or how it finds the answer. It passes the others on to the chain, which
 * signs for its unlocked account.
 */
export type WalletAnswers = Record<
  string,
  WalletAnswer | ((passOn: () => Promise<WalletAnswer>, params: readonly unknown[]) => Promise<WalletAnswer>)
>;

/** How a page finds a wallet: by its announcements (EIP-6963), or by `window.ethereum`, at once or later. */
export type Injection = { readonly names: readonly string[] } | { readonly afterMs: number };

/** Gives a page a browser wallet. */
export function installWallet(answers: WalletAnswers, injection: Injection, rpcUrl: string) {
  return async (page: Page): Promise<void> => {
    await page.exposeFunction("askTestWallet", async (method: string, params: unknown[]): Promise<WalletAnswer> => {
      const passOn = async () => {
        const passedOn = method === "eth_requestAccounts" ? "eth_accounts" : method;
        const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: passedOn, params });
        const headers = { "content-type": "application/json" };
        return (await (await fetch(rpcUrl, { method: "POST", headers, body })).json()) as WalletAnswer;
      };
      const own = answers[method] ?? passOn;
      return typeof own === "function" ? own(passOn, params) : own;
    });
    await page.addInitScript(INJECTED, injection);
  };
}

/** Runs in the page, before its own script. */
const INJECTED = (injection: Injection) => {
  const provider = {
    async request({ method, params = [] }: { method: string; params?: unknown[] }) {
      const { askTestWallet } = globalThis as unknown as {
        askTestWallet: (method: string, params: unknown[]) => Promise<WalletAnswer>;
      };
      const answered = await askTestWallet(method, params);
      if ("error" in answered) throw answered.error;
      return answered.result;
    },
  };
  if ("afterMs" in injection) {
    const inject = () => void Object.assign(globalThis, { ethereum: provider });
    if (injection.afterMs > 0) setTimeout(inject, injection.afterMs);
    else inject();
    return;
  }
  const icon = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>";
  const announce = () => {
    for (const name of injection.names) {
      const info = { uuid: `2f1c0e9a-0000-4000-8000-${name}`, name, icon, rdns: "example.wallet" };
      dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail: { info, provider } }));
    }
  };
  addEventListener("eip6963:requestProvider", announce);
  announce();
};
