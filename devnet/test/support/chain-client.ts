import {
  type Chain,
  createTestClient,
  defineChain,
  type HttpTransport,
  type HttpTransportConfig,
  http,
  type PublicActions,
  publicActions,
  type TestClient,
  type WalletActions,
  walletActions,
} from "viem";

const nativeCurrency = { name: "Ether", symbol: "ETH", decimals: 18 };

/** The family of a node's methods for tests. */
export type TestMode = "anvil" | "hardhat" | "ganache";

export type TestChainClient = TestClient<TestMode, HttpTransport, Chain> &
  PublicActions<HttpTransport, Chain> &
  WalletActions<Chain>;

interface ClientOptions extends HttpTransportConfig {
  readonly chainId?: number;
  readonly mode?: TestMode;
}

/** Returns a client of a development chain. */
export function clientOf(
  url: string,
  { chainId = 42, mode = "anvil", ...config }: ClientOptions = {},
): TestChainClient {
  const chain = defineChain({ id: chainId, name: mode, nativeCurrency, rpcUrls: { default: { http: [url] } } });
  return createTestClient({ mode, chain, transport: http(url, config), pollingInterval: 100, cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions);
}
