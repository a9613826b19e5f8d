#!/usr/bin/env node
import { readQueryPrice } from "@dataset-oracle/protocol";
import { runMain } from "@dataset-oracle/service/process/run-main";
import { createPublicClient, http } from "viem";
import { PROVIDERS } from "./accounts.js";
import { writeAddressFile } from "./address-file.js";
import { announceProviders } from "./announce-providers.js";
import { startChain } from "./anvil.js";
import { compile, deploy } from "./deploy.js";
import { createDevnetContext, type DevnetContext } from "./devnet-context.js";
import { requireFreePorts } from "./needed-ports.js";
import { neededPorts, readOptions } from "./options.js";
import { publishExampleSpecs } from "./publish-example-specs.js";
import { printReadySummary } from "./ready-summary.js";
import { startMarket, startOperators, startProviders } from "./start-services.js";

await runMain(async () => {
  const options = readOptions();
  await requireFreePorts(neededPorts(options));
  const devnet = createDevnetContext(options);
  devnet.components.endWithTerminal();
  await start(devnet).catch((error: Error) => devnet.components.end(1, error.message));
});

async function start(devnet: DevnetContext): Promise<void> {
  const { isLive, operators: count } = devnet.options;
  await step("Starting the chain", () => startChain(devnet));
  await step("Compiling the contracts, which takes up to a few minutes the first time", () => compile(devnet));
  const deployed = await step("Deploying the contracts", () => deploy(devnet));
  if (!isLive) await step("Starting the simulated market", () => startMarket(devnet));
  const providers = await step(`Starting ${PROVIDERS.length} data providers`, () => startProviders(devnet));
  if (count !== null) await step("Announcing the providers", () => announceProviders(devnet));
  const operatorStep = count === null ? "Starting the operator" : `Starting ${count} operators`;
  const operators = await step(operatorStep, () => startOperators(devnet));
  // The example specs read the simulated market.
  const examples = isLive
    ? []
    : await step("Publishing the example specs", () => publishExampleSpecs(devnet, deployed.webOracle));
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
