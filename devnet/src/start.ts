import { readQueryPrice } from "@dataset-oracle/protocol";
import { createPublicClient, http } from "viem";
import { PROVIDERS } from "./accounts.js";
import { writeAddressFile } from "./address-file.js";
import { announceProviders } from "./announce-providers.js";
import { startBlocks, startChain } from "./anvil.js";
import { compile, deploy } from "./deploy.js";
import type { DevnetContext } from "./devnet-context.js";
import { listExampleKeys, publishExampleSpecs } from "./publish-example-specs.js";
import { printReadySummary } from "./ready-summary.js";
import { startMarket, startOperators, startProviders } from "./start-services.js";

/** Starts everything, one step after the other, and prints what to do with it. */
export async function start(devnet: DevnetContext): Promise<void> {
  const { isLive, operators: count } = devnet.options;
  await step(isLive ? "Starting the chain" : "Starting the chain and the simulated market", () =>
    Promise.all([startChain(devnet), isLive ? null : startMarket(devnet)]),
  );
  await step("Compiling the contracts, which takes up to a few minutes the first time", () => compile(devnet));
  const deployed = await step("Deploying the contracts", () => deploy(devnet));
  await startBlocks(devnet);
  // The example specs read the simulated market. Publishing waits for blocks while the providers start.
  const publication = isLive ? Promise.resolve([]) : publishExampleSpecs(devnet, deployed.webOracle);
  // Whether it has failed is asked later.
  publication.catch(() => {});
  const providers = await step(`Starting ${PROVIDERS.length} data providers`, () => startProviders(devnet));
  if (count !== null) await step("Announcing the providers", () => announceProviders(devnet));
  const examples = await step("Publishing the example specs", () => publication);
  listExampleKeys(devnet, examples);
  const operatorStep = count === null ? "Starting the operator" : `Starting ${count} operators`;
  const operators = await step(operatorStep, () => startOperators(devnet));
  const running = { ...devnet, deployed, providers, operators, examples };
  const client = createPublicClient({ transport: http(devnet.chainUrl) });
  const queryPrice = await readQueryPrice(client, { dataset: deployed.dataset.address });
  writeAddressFile(running, queryPrice);
  printReadySummary(running, queryPrice);
}

/** Prints a step's name and the seconds since the start, then runs it. */
function step<T>(name: string, run: () => Promise<T>): Promise<T> {
  console.log(`${process.uptime().toFixed(1).padStart(5)} s  ${name} ...`);
  return run();
}
