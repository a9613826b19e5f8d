import type { NetworkSettings } from "../../src/config.js";
import { startChain } from "./chain.js";
import { type NetworkSetup, type OperatorOptions, startOperator } from "./operator.js";
import { startProviders } from "./stub-providers.js";

/** The header of a request that waits until its transaction is mined. */
export const WAIT = { prefer: "wait=20" };

/** Starts providers, and a chain with a dataset whose committee they are. They end with the test file. */
export async function startCommittee(size: number) {
  const [chain, providers] = await Promise.all([startChain(), startProviders(size)]);
  const members = providers.map(({ address }) => address);
  const dataset = await chain.deploy(members);
  return {
    ...{ chain, providers, members, dataset },
    body: (key: string, broadcast = true, more: object = {}) => ({ network_id: 42, dataset, key, broadcast, ...more }),

    /** Starts an operator of the dataset, and waits until its queues have looked for pending transactions. */
    async start(
      settings: Partial<NetworkSettings> = {},
      options: OperatorOptions = {},
      more: Partial<NetworkSetup> = {},
    ) {
      const operator = await startOperator([{ chain, datasets: [dataset], providers, settings, ...more }], options);
      await operator.recovered;
      return operator;
    },
  };
}
