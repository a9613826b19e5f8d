import { deployTestContract, deployTestDataset } from "@dataset-oracle/devnet/deploy-test-contracts";
import { webOracleRegistryAbi } from "@dataset-oracle/protocol/abi/web-oracle-registry";
import { createTestClient, defineChain, http, publicActions, walletActions } from "viem";

const nativeCurrency = { name: "Ether", symbol: "ETH", decimals: 18 };

/** Returns a client of the chain. */
export function clientOf(url) {
  const chain = defineChain({ id: 42, name: "anvil", nativeCurrency, rpcUrls: { default: { http: [url] } } });
  return createTestClient({ mode: "anvil", chain, transport: http(url), pollingInterval: 100, cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions);
}

/** Deploys a dataset of prices, the two datasets of the Web Oracle, and its registry. */
export async function deployContracts(chainUrl) {
  const web = { keyForm: "WEB_ORACLE" };
  return {
    prices: await deployTestDataset(chainUrl),
    numbers: await deployTestDataset(chainUrl, web),
    words: await deployTestDataset(chainUrl, { ...web, kind: "majority" }),
    registry: await deployTestContract(chainUrl, "WebOracleRegistry", { abi: webOracleRegistryAbi }),
  };
}
