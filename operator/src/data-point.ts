import type { Hex } from "viem";
import type { Dataset, Network } from "./network.js";

/** A key of a dataset on a network. */
export interface DataPoint {
  readonly network: Network;
  readonly dataset: Dataset;
  /** Lower-case hex. */
  readonly key: Hex;
  readonly id: string;
}

export function dataPointOf(network: Network, dataset: Dataset, key: Hex): DataPoint {
  return { network, dataset, key, id: `${network.chainId} ${dataset.address} ${key}` };
}

/** Identifies the work on a data point at one round. */
export function roundId({ id }: DataPoint, round: bigint): string {
  return `${id} ${round}`;
}
