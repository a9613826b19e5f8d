import { deployTestContract, deployTestDataset } from "@dataset-oracle/devnet/deploy-test-contracts";
import { webOracleRegistryAbi } from "@dataset-oracle/protocol/abi/web-oracle-registry";

/** Deploys a dataset of prices, the two datasets of the Web Oracle, and its registry. */
export async function deployContracts(chainUrl: string) {
  const web = { keyForm: "WEB_ORACLE" } as const;
  return {
    prices: await deployTestDataset(chainUrl),
    numbers: await deployTestDataset(chainUrl, web),
    words: await deployTestDataset(chainUrl, { ...web, kind: "majority" }),
    registry: await deployTestContract(chainUrl, "WebOracleRegistry", { abi: webOracleRegistryAbi }),
  };
}
