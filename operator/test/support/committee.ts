import { startChain } from "./chain.js";
import { startProviders } from "./stub-providers.js";

/** Starts providers, and a chain with a dataset whose committee they are. They end with the test file. */
export async function startCommittee(size: number) {
  const [chain, providers] = await Promise.all([startChain(), startProviders(size)]);
  const members = providers.map(({ address }) => address);
  return { chain, providers, members, dataset: await chain.deploy(members) };
}
