import { startAnvil } from "@dataset-oracle/devnet/anvil";
import { deployTestDataset } from "@dataset-oracle/devnet/deploy-test-contracts";
import { createPublicClient, defineChain, http } from "viem";

const nativeCurrency = { name: "Ether", symbol: "ETH", decimals: 18 };

/**
 * Starts a chain whose blocks have space for every transaction, and deploys datasets.
 *
 * @param datasets The number of datasets.
 * @param members Their committee, in ascending order; the devnet's providers by default.
 */
export async function startChain({ datasets: count, members }) {
  const anvil = await startAnvil({ chainId: 42, blockTime: 1, gasLimit: 1_000_000_000 });
  const rpcUrls = { default: { http: [anvil.url] } };
  const chain = defineChain({ id: 42, name: "anvil", nativeCurrency, rpcUrls });
  const client = createPublicClient({ chain, transport: http(anvil.url), pollingInterval: 100 });
  try {
    const datasets = [];
    while (datasets.length < count) datasets.push(await deployTestDataset(anvil.url, members && { members }));
    return { anvil, chain, client, datasets };
  } catch (error) {
    await anvil.close();
    throw error;
  }
}
