#!/usr/bin/env node
import { runMain } from "@dataset-oracle/service/process/run-main";
import { PROVIDERS } from "./accounts.js";
import { announceNodes } from "./announce-nodes.js";
import { startChain } from "./anvil.js";
import { neededPorts, readSettings } from "./arguments.js";
import { compile, deploy } from "./deploy.js";
import { createDevnet, type Devnet } from "./devnet.js";
import { publishExamples } from "./example-specs.js";
import { requireFreePorts } from "./ports.js";
import { showReady } from "./ready-summary.js";
import { startMarket, startOperators, startProviders } from "./services.js";

await runMain(async () => {
  const settings = readSettings();
  await requireFreePorts(neededPorts(settings));
  const devnet = createDevnet(settings);
  devnet.components.endWithTerminal();
  await start(devnet).catch((error: Error) => devnet.components.end(1, error.message));
});

async function start(devnet: Devnet): Promise<void> {
  const { isLive, nodes } = devnet.settings;
  await step("Starting the chain", () => startChain(devnet));
  await step("Compiling the contracts", () => compile(devnet));
  const deployed = await step("Deploying the contracts", () => deploy(devnet));
  if (!isLive) await step("Starting the simulated market", () => startMarket(devnet));
  const providers = await step(`Starting ${PROVIDERS.length} data providers`, () => startProviders(devnet));
  // Nodes would find each other later, too. This way the first requests are forwarded already.
  if (nodes !== null) await step(`Announcing ${nodes} nodes`, () => announceNodes(devnet));
  const operatorStep = nodes === null ? "Starting the operator" : `Starting ${nodes} nodes`;
  const operators = await step(operatorStep, () => startOperators(devnet));
  // The example specs read the simulated market.
  const examples = isLive
    ? []
    : await step("Publishing the example specs", () => publishExamples(devnet, deployed.webOracle));
  await showReady({ ...devnet, deployed, providers, operators, examples });
}

/** Prints a step's name and the seconds since the start, then runs it: the first compilation takes minutes. */
function step<T>(name: string, run: () => Promise<T>): Promise<T> {
  console.log(`${process.uptime().toFixed(1).padStart(5)} s  ${name} ...`);
  return run();
}
