import { type Chain, type Client, type CustomTransport, createClient, custom, defineChain } from "viem";
import type { EndpointState, JsonRpc } from "./endpoint.js";

/** A viem client of one network, for viem's actions: `readContract(client, ...)`. Its errors wrap an `RpcError`. */
export type ChainClient = Client<CustomTransport, Chain> & {
  /** Makes a call without viem, whose errors are not wrapped, and whose result has the shape of the schema of its method. @throws RpcError */
  ask<T>(method: string, params: readonly unknown[]): Promise<T>;
  /** Returns true while at least one RPC endpoint can be used. */
  isReady(): boolean;
  /** Lists the RPC endpoints, and what each cannot do. */
  endpoints(): EndpointState[];
  /** Makes a call to every RPC endpoint that is ready, and returns the answers. @throws RpcError when there is none. */
  requestEach(method: string, params: readonly unknown[]): Promise<readonly unknown[]>;
};

/** Creates a client over any JSON-RPC. The pool does the failover, so viem neither retries nor batches nor caches. */
export function createChainClient(chainId: number, rpc: JsonRpc): ChainClient {
  const request = ({ method, params = [] }: { method: string; params?: readonly unknown[] }) =>
    rpc.request(method, params);
  return createClient({
    chain: defineChain({
      id: chainId,
      name: `network ${chainId}`,
      nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
      rpcUrls: { default: { http: [] } },
    }),
    transport: custom({ request }, { retryCount: 0 }),
    cacheTime: 0,
    // A contract could name any URL for viem to fetch (EIP-3668).
    ccipRead: false,
  }).extend(() => ({
    ask: <T>(method: string, params: readonly unknown[]) => rpc.request(method, params) as Promise<T>,
    isReady: () => rpc.isReady ?? true,
    endpoints: () => rpc.endpoints ?? [],
    requestEach: async (method: string, params: readonly unknown[]) =>
      (await rpc.requestEach?.(method, params)) ?? [await rpc.request(method, params)],
  }));
}
