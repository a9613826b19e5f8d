import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import type { Deployment } from "@dataset-oracle/service/config/deployment";
import type { Address } from "viem";

export const DATASET: Address = "0x5FbDB2315678afecb367f032d93F642f64180aa3";

/** Returns a deployment with one dataset, of which the sources know all keys but the last. */
export function spotPriceDeployment(change: Partial<Deployment["datasets"][number]> = {}): Deployment {
  const keys = ["ETH-USD", "BTC-USD", "NOSUCH-USD"].map(spotPriceKey);
  return {
    chainId: 42,
    datasets: [{ name: "financial", address: DATASET, kind: "median", keyForm: "SPOT_PRICE", keys, ...change }],
  };
}
