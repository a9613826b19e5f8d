#!/usr/bin/env node
import { SECP256K1 } from "@dataset-oracle/service/crypto/secp256k1";
import { processRegistry } from "@dataset-oracle/service/http-server/metrics";
import { serve } from "@dataset-oracle/service/http-server/serve";
import { readCommand } from "@dataset-oracle/service/process/arguments";
import { createLogger } from "@dataset-oracle/service/process/logger";
import { runMain } from "@dataset-oracle/service/process/run-main";
import { buildProvider } from "./app.js";
import { announceNode } from "./cli/announce.js";
import { fetchValue } from "./cli/fetch.js";
import { USAGE } from "./cli/help-text.js";
import { replayEvidence } from "./cli/replay.js";
import { checkFolders, loadSetup, type Setup } from "./load-setup.js";
import { listStartupWarnings, summarizeSetup } from "./startup-messages.js";

await runMain(async () => {
  const [name, ...args] = process.argv.slice(2);
  if (name === "announce") return announceNode(args);
  if (name === "fetch") return fetchValue(args);
  if (name === "replay") return replayEvidence(args);
  const command = readCommand(process.argv.slice(2), USAGE);
  if (command.name === "help") return console.log(USAGE);
  const { setup, warnings } = await loadSetup(command.configFile, process.env);
  if (command.name === "serve") return serveReports(setup, warnings);
  checkFolders(setup.config);
  for (const warning of [...warnings, ...listStartupWarnings(setup)]) console.error(warning);
  console.log(`${command.configFile} is valid. ${summarizeSetup(setup)}`);
});

async function serveReports(setup: Setup, warnings: readonly string[]): Promise<void> {
  const logger = createLogger();
  for (const note of [...warnings, ...listStartupWarnings(setup)]) logger.warn(note);
  logger.info(`signatures are made by ${SECP256K1.name}`);
  logger.info(summarizeSetup(setup));
  const registry = processRegistry();
  const app = await buildProvider(setup, { logger, registry });
  await serve(app, setup.config, registry, logger);
}
