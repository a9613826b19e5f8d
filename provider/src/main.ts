#!/usr/bin/env node
import { loadAccount } from "@dataset-oracle/service/accounts";
import { readCommand } from "@dataset-oracle/service/arguments";
import { loadDeployment } from "@dataset-oracle/service/deployment";
import { Secrets } from "@dataset-oracle/service/egress/secrets";
import { listen } from "@dataset-oracle/service/listen";
import { createLogger } from "@dataset-oracle/service/logger";
import { processRegistry, serveMetrics } from "@dataset-oracle/service/metrics";
import { closeOnSignal, runMain } from "@dataset-oracle/service/process";
import { SECP256K1 } from "@dataset-oracle/service/secp256k1";
import { buildProvider } from "./app.js";
import { fetchValue } from "./cli/fetch.js";
import { replayEvidence } from "./cli/replay.js";
import { USAGE } from "./cli/usage.js";
import { loadProviderConfig } from "./config.js";
import { checkDatabase } from "./decision-store.js";
import { checkEvidence } from "./evidence/evidence-store.js";
import { decideServed, requireKeys } from "./served.js";
import { loadSources, SHIPPED_SOURCES } from "./source/load-sources.js";
import { checkOverrides } from "./source-overrides.js";
import { startNotes, summary } from "./start-notes.js";
import { knownOrigins, planWebOracle } from "./web-oracle/plan.js";

await runMain(async () => {
  const [name, ...args] = process.argv.slice(2);
  if (name === "fetch") return fetchValue(args);
  if (name === "replay") return replayEvidence(args);
  const command = readCommand(process.argv.slice(2), USAGE);
  if (command.name === "help") return console.log(USAGE);

  const config = loadProviderConfig(command.configFile);
  const deployments = config.deployments.map(loadDeployment);
  const sources = loadSources([SHIPPED_SOURCES, ...config.sources], config.excludedSources);
  const chainIds = deployments.map(({ chainId }) => chainId);
  const webOracle = planWebOracle(config.webOracle, deployments, sources, process.env);
  const secrets = Secrets.load(config.secrets, process.env);
  checkOverrides(config.sourceOverrides, knownOrigins(sources, webOracle), chainIds);
  const served = decideServed(deployments, sources, config.minSources, config.sourceOverrides);
  requireKeys(served, config.minSources, webOracle !== null);
  const { account, warnings } = await loadAccount(process.env, "PROVIDER");
  if (command.name === "check") {
    checkDatabase(config.database);
    if (config.evidence !== null) checkEvidence(config.evidence.folder);
    for (const warning of warnings) console.error(warning);
    return console.log(`${command.configFile} is valid. ${summary(served, webOracle, account.address)}`);
  }

  const logger = createLogger();
  for (const note of [...warnings, ...startNotes(served, webOracle, config.sourceOverrides)]) logger.warn(note);
  logger.info(`signatures are made by ${SECP256K1.name}`);
  logger.info(summary(served, webOracle, account.address));
  const registry = processRegistry();
  const app = await buildProvider(config, { served, webOracle, secrets }, account, { logger, registry });
  await listen(app, config);
  const metrics = await serveMetrics(registry, config);
  logger.info(`figures for Prometheus at ${metrics.url}`);
  closeOnSignal(logger, async () => {
    await Promise.all([app.close(), metrics.close()]);
  });
});
