import { readFileSync } from "node:fs";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { createConfig } from "ponder";
import type { Address } from "viem";

// The file that the deployment scripts write, and that operators and providers read.
const deployment = JSON.parse(readFileSync(process.env.DEPLOYMENT ?? "deployment.json", "utf8"));
const datasets: readonly { readonly address: Address }[] = Object.values(deployment.datasets);

export default createConfig({
  chains: { main: { id: deployment.chainId, rpc: process.env.RPC_URL ?? "http://127.0.0.1:8545" } },
  contracts: {
    Dataset: {
      chain: "main",
      abi: datasetAbi,
      address: datasets.map(({ address }) => address),
      startBlock: Number(process.env.START_BLOCK ?? 0),
    },
  },
});
