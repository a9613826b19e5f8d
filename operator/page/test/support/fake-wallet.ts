import type { Page } from "playwright-core";

type Answer = { readonly result: unknown } | { readonly error: { readonly code: number; readonly message: string } };

/**
 * What a test's wallet answers to some methods. It passes the others on to the chain, which signs for its unlocked
 * account.
 */
export type WalletAnswers = Record<string, Answer>;

/** Gives a page a browser wallet, which announces itself (EIP-6963), or else is only `window.ethereum`. */
export function installWallet(answers: WalletAnswers, isAnnounced: boolean, rpcUrl: string) {
  return async (page: Page): Promise<void> => {
    await page.exposeFunction("askTestWallet", async (method: string, params: unknown[]): Promise<Answer> => {
      const own = answers[method];
      if (own !== undefined) return own;
      const passedOn = method === "eth_requestAccounts" ? "eth_accounts" : method;
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: passedOn, params });
      const headers = { "content-type": "application/json" };
      return (await (await fetch(rpcUrl, { method: "POST", headers, body })).json()) as Answer;
    });
    await page.addInitScript(INJECTED, isAnnounced);
  };
}

/** Runs in the page, before its own script. */
const INJECTED = (isAnnounced: boolean) => {
  const provider = {
    async request({ method, params = [] }: { method: string; params?: unknown[] }) {
      const { askTestWallet } = globalThis as unknown as {
        askTestWallet: (method: string, params: unknown[]) => Promise<Answer>;
      };
      const answered = await askTestWallet(method, params);
      if ("error" in answered) throw answered.error;
      return answered.result;
    },
  };
  if (!isAnnounced) {
    Object.assign(globalThis, { ethereum: provider });
    return;
  }
  const icon = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>";
  const info = { uuid: "2f1c0e9a-0000-4000-8000-000000000001", name: "Test Wallet", icon, rdns: "example.wallet" };
  const announce = () => dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail: { info, provider } }));
  addEventListener("eip6963:requestProvider", announce);
  announce();
};
