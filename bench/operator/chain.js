import { readFileSync } from "node:fs";
import { join } from "node:path";
import { OWNER, PROVIDERS } from "@dataset-oracle/devnet/accounts";
import { startAnvil } from "@dataset-oracle/devnet/anvil";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { KEY_FORMS } from "@dataset-oracle/protocol/dataset-key";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { createPublicClient, defineChain, encodeDeployData, getAddress, http, parseEther } from "viem";

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
    while (datasets.length < count) datasets.push(await deploy(client));
    return { anvil, chain, client, datasets };
  } catch (error) {
    await anvil.close();
    throw error;
  }
}

async function deploy(client) {
  const settings = {
    owner: OWNER.address,
    keyForm: KEY_FORMS.indexOf("SPOT_PRICE"),
    maxRoundAge: 300n,
    priceCeiling: parseEther("1"),
    queryPrice: 1_000n,
    subscriptionPriceCeiling: parseEther("1"),
    subscriptionPrice: parseEther("0.1"),
    repaymentInterval: 0n,
    repaymentFeeCap: 0n,
    toleranceBps: 100n,
    members: PROVIDERS.map(({ address }) => address),
  };
  const path = join(ROOT, "out/MedianDataset.sol/MedianDataset.json");
  const bytecode = JSON.parse(readFileSync(path, "utf8")).bytecode.object;
  const data = encodeDeployData({ abi: datasetAbi, bytecode, args: [settings] });
  const transaction = { from: OWNER.address, data, gas: "0x4c4b40" };
  const hash = await client.request({ method: "eth_sendTransaction", params: [transaction] });
  const { contractAddress } = await client.waitForTransactionReceipt({ hash });
  return getAddress(contractAddress);
}
