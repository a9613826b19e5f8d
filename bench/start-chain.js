import { startAnvil } from "@dataset-oracle/devnet/anvil";
import { deployTestDataset } from "@dataset-oracle/devnet/deploy-test-contracts";
import { createPublicClient, defineChain, http } from "viem";

const nativeCurrency = { name: "Ether", symbol: "ETH", decimals: 18 };

/**
 * Starts a chain whose blocks have space for every transaction, and deploys datasets with the providers as committee.
 *
 * @param count The number of datasets.
 */
export async function startChain(count) {
  const anvil = await startAnvil({ chainId: 42, blockTime: 1, gasLimit: 1_000_000_000 });
  const rpcUrls = { default: { http: [anvil.url] } };
  const chain = defineChain({ id: 42, name: "anvil", nativeCurrency, rpcUrls });
  const client = createPublicClient({ chain, transport: http(anvil.url), pollingInterval: 100 });
  try {
    const datasets = [];
    while (datasets.length < count) datasets.push(await deployTestDataset(anvil.url));
    return { anvil, chain, client, datasets };
  } catch (error) {
    await anvil.close();
    throw error;
  }
}
