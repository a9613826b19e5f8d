#!/usr/bin/env node
import { runMain } from "@dataset-oracle/service/process/lifecycle";
import { PROVIDERS } from "./accounts.js";
import { announce } from "./announce.js";
import { startChain } from "./anvil.js";
import { neededPorts, readSettings, type Settings } from "./arguments.js";
import { Components } from "./components.js";
import { compile, deploy } from "./deploy.js";
import { publishExamples } from "./example-specs.js";
import { createFolder } from "./folder.js";
import { requireFreePorts } from "./ports.js";
import { gatewayUrl, startMarket, startOperator, startProviders } from "./services.js";

await runMain(async () => {
  const settings = readSettings();
  await requireFreePorts(neededPorts(settings, PROVIDERS.length));
  const components = new Components();
  components.endWithTerminal();
  await start(settings, components).catch((error: Error) => components.end(1, error.message));
});

async function start(settings: Settings, components: Components): Promise<void> {
  const folder = createFolder(settings.chainPort);
  const { isLive } = settings;
  const chain = await step("Starting the chain", () => startChain(settings.chainPort, components));
  await step("Compiling the contracts", () => compile(folder, components));
  const deployed = await step("Deploying the contracts", () =>
    deploy(chain.url, gatewayUrl(settings), folder, components),
  );
  if (!isLive) await step("Starting the simulated market", () => startMarket(settings, folder, components));
  const providers = await step(`Starting ${PROVIDERS.length} data providers`, () =>
    startProviders(settings, chain.url, folder, components),
  );
  await step("Starting the operator", () => startOperator(settings, chain.url, folder, components));
  // The example specs read the simulated market.
  const examples = isLive
    ? []
    : await step("Publishing the example specs", () => publishExamples(chain.url, folder, deployed.webOracle));
  await announce({ settings, chainUrl: chain.url, deployed, providers, examples, folder });
}

/** Prints a step's name and the seconds since the start, then runs it: the first compilation takes minutes. */
function step<T>(name: string, run: () => Promise<T>): Promise<T> {
  console.log(`${process.uptime().toFixed(1).padStart(5)} s  ${name} ...`);
  return run();
}
