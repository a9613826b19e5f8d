import {
  type Chain,
  createTestClient,
  defineChain,
  type HttpTransport,
  http,
  type PublicActions,
  publicActions,
  type TestClient,
  type WalletActions,
  walletActions,
} from "viem";

const nativeCurrency = { name: "Ether", symbol: "ETH", decimals: 18 };

export type ChainClient = TestClient<"anvil", HttpTransport, Chain> &
  PublicActions<HttpTransport, Chain> &
  WalletActions<Chain>;

/** Returns a client of the chain. */
export function clientOf(url: string): ChainClient {
  const chain = defineChain({ id: 42, name: "anvil", nativeCurrency, rpcUrls: { default: { http: [url] } } });
  return createTestClient({ mode: "anvil", chain, transport: http(url), pollingInterval: 100, cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions);
}
