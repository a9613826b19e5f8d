import type { Hex } from "viem";
import type { Dataset, Network } from "../network.js";

/** Several data points of one dataset at one round. */
export interface Batch {
  readonly network: Network;
  readonly dataset: Dataset;
  /** 1 to 256. */
  readonly keys: readonly Hex[];
  /** Seconds since 1970. */
  readonly round: bigint;
}
