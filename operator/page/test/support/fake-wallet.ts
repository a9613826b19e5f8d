import type { Page } from "playwright-core";

/** How a test's wallet behaves. It holds no key: the chain signs for its unlocked account. */
export interface WalletBehaviour {
  readonly rpcUrl: string;
  readonly account: string;
  /** True if it announces itself (EIP-6963); otherwise it is only `window.ethereum`. */
  readonly isAnnounced: boolean;
  chainId: number;
  /** The chains that it can go to. */
  knownChains: number[];
  isRefusing: boolean;
  /** The methods that were called, in order. */
  readonly asked: string[];
}

export function walletOf(rpcUrl: string, account: string, more: Partial<WalletBehaviour> = {}): WalletBehaviour {
  return { rpcUrl, account, isAnnounced: true, chainId: 42, knownChains: [42], isRefusing: false, asked: [], ...more };
}

/** Gives a page a browser wallet. */
export function installWallet(wallet: WalletBehaviour): (page: Page) => Promise<void> {
  return async (page) => {
    await page.exposeFunction("askTestWallet", (method: string, params: unknown[]) => answer(wallet, method, params));
    await page.addInitScript(INJECTED, wallet.isAnnounced);
  };
}

type Answer = { readonly result: unknown } | { readonly error: { readonly code: number; readonly message: string } };

async function answer(wallet: WalletBehaviour, method: string, params: unknown[]): Promise<Answer> {
  wallet.asked.push(method);
  switch (method) {
    case "eth_requestAccounts":
      return { result: [wallet.account] };
    case "eth_chainId":
      return { result: `0x${wallet.chainId.toString(16)}` };
    case "wallet_switchEthereumChain": {
      const chainId = Number((params[0] as { chainId: string }).chainId);
      if (!wallet.knownChains.includes(chainId)) return { error: { code: 4902, message: "Unrecognized chain ID." } };
      wallet.chainId = chainId;
      return { result: null };
    }
    case "eth_sendTransaction":
      if (wallet.isRefusing) return { error: { code: 4001, message: "User rejected the request." } };
  }
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = { "content-type": "application/json" };
  return (await (await fetch(wallet.rpcUrl, { method: "POST", headers, body })).json()) as Answer;
}

/** Runs in the page, before its own script. */
const INJECTED = (isAnnounced: boolean) => {
  const provider = {
    async request({ method, params = [] }: { method: string; params?: unknown[] }) {
      const ask = (globalThis as unknown as { askTestWallet: (method: string, params: unknown[]) => Promise<Answer> })
        .askTestWallet;
      const answered = await ask(method, params);
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
