import { createTestClient, defineChain, http, publicActions, walletActions } from "viem";

const nativeCurrency = { name: "Ether", symbol: "ETH", decimals: 18 };

/** Returns a client of the chain. */
export function clientOf(url) {
  const chain = defineChain({ id: 42, name: "anvil", nativeCurrency, rpcUrls: { default: { http: [url] } } });
  return createTestClient({ mode: "anvil", chain, transport: http(url), pollingInterval: 100, cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions);
}
