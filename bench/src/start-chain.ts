import { type Anvil, startAnvil } from "@dataset-oracle/devnet/anvil";
import { deployTestDataset } from "@dataset-oracle/devnet/deploy-test-contracts";
import {
  type Address,
  type Chain,
  createPublicClient,
  defineChain,
  type HttpTransport,
  http,
  type PublicClient,
} from "viem";

const nativeCurrency = { name: "Ether", symbol: "ETH", decimals: 18 };

export type ChainClient = PublicClient<HttpTransport, Chain>;

export interface StartedChain {
  readonly anvil: Anvil;
  readonly client: ChainClient;
  readonly dataset: Address;
}

/**
 * Starts a chain whose blocks have space for every transaction, and deploys a dataset.
 *
 * @param members Its committee, in ascending order; the devnet's providers by default.
 */
export async function startChain(members?: readonly Address[]): Promise<StartedChain> {
  const anvil = await startAnvil({ chainId: 42, blockTime: 1, gasLimit: 1_000_000_000 });
  const rpcUrls = { default: { http: [anvil.url] } };
  const chain = defineChain({ id: 42, name: "anvil", nativeCurrency, rpcUrls });
  const client = createPublicClient({ chain, transport: http(anvil.url), pollingInterval: 100 });
  try {
    return { anvil, client, dataset: await deployTestDataset(anvil.url, members && { members }) };
  } catch (error) {
    await anvil.close();
    throw error;
  }
}
