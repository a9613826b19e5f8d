#!/usr/bin/env node
import { setMaxListeners } from "node:events";
import { readCommand } from "@dataset-oracle/service/arguments";
import { listen } from "@dataset-oracle/service/listen";
import { createLogger } from "@dataset-oracle/service/logger";
import { processRegistry, serveMetrics } from "@dataset-oracle/service/metrics";
import { closeOnSignal, runMain } from "@dataset-oracle/service/process";
import { SECP256K1 } from "@dataset-oracle/service/secp256k1";
import { buildOperatorApp } from "./app.js";
import { loadOperatorConfig } from "./config.js";
import { runFeeds } from "./feeds/loop.js";
import { Metrics } from "./metrics.js";
import { connectNetwork, replicasOf } from "./network.js";
import { createOperator } from "./operator.js";
import { loadSenderKeys } from "./sender-keys.js";
import { recover } from "./update/recover.js";
import { USAGE } from "./usage.js";

await runMain(async () => {
  const command = readCommand(process.argv.slice(2), USAGE);
  if (command.name === "help") return console.log(USAGE);

  const plan = loadOperatorConfig(command.configFile, process.env);
  const chainIds = plan.networks.map(({ deployment }) => deployment.chainId);
  const signers = await loadSenderKeys(process.env, chainIds);
  if (command.name === "check") {
    for (const { warnings } of new Set(signers.values())) for (const warning of warnings) console.error(warning);
    for (const network of plan.networks) replicasOf(network, signers.get(network.deployment.chainId)?.accounts ?? []);
    return console.log(`${command.configFile} is valid. Networks: ${chainIds.join(", ")}.`);
  }

  const logger = createLogger({ name: "operator", level: plan.config.logLevel });
  logger.info(`signatures are checked and made by ${SECP256K1.name}`);
  for (const chainId of chainIds) {
    const signer = signers.get(chainId);
    for (const warning of signer?.warnings ?? []) logger.warn({ network: chainId }, warning);
    if (!signer) logger.warn({ network: chainId }, "no private key: nothing is broadcast on this network");
  }

  const closing = new AbortController();
  // Every wait and every outgoing call listens to it: there is no number of them that means a leak.
  setMaxListeners(0, closing.signal);
  const registry = processRegistry();
  const metrics = new Metrics(registry);
  const context = { clock: Date.now, logger, closing: closing.signal, metrics };
  const networks = await Promise.all(
    plan.networks.map((network) => {
      const signer = signers.get(network.deployment.chainId);
      return connectNetwork(network, signer?.accounts ?? [], context);
    }),
  );
  for (const { chainId, datasets, senders } of networks) {
    logger.info({ network: chainId, datasets: [...datasets.keys()], senders: senders?.addresses ?? [] }, "connected");
  }

  const operator = createOperator(networks, Date.now, logger, closing.signal, metrics);
  recover(operator);
  const app = await buildOperatorApp(operator, plan.config, registry);
  await listen(app, plan.config);
  const figures = await serveMetrics(registry, plan.config);
  logger.info(`figures for Prometheus at ${figures.url}`);
  closeOnSignal(logger, async () => {
    closing.abort();
    await Promise.all([app.close(), figures.close()]);
  });
  await runFeeds(operator);
});
