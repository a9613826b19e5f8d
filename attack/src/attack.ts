import type { Choices } from "@dataset-oracle/tools/seeded-random";
import type { Network } from "./network/network.js";
import type { Tally } from "./results.js";

/** One way to attack the network. */
export interface Attack {
  readonly name: string;
  /** When it counts as having got through. */
  readonly breach: string;
  /** It takes seconds. */
  readonly isFast: boolean;
  run(network: Network, tally: Tally, random: Choices): Promise<void>;
}
