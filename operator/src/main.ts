#!/usr/bin/env node
import { setFlagsFromString } from "node:v8";
import { SECP256K1 } from "@dataset-oracle/service/crypto/secp256k1";
import { processRegistry } from "@dataset-oracle/service/http-server/metrics";
import { serve } from "@dataset-oracle/service/http-server/serve";
import { namesOfAccounts } from "@dataset-oracle/service/keys/find-accounts";
import { readCommand } from "@dataset-oracle/service/process/arguments";
import { createContext } from "@dataset-oracle/service/process/context";
import { createLogger } from "@dataset-oracle/service/process/logger";
import { runMain } from "@dataset-oracle/service/process/run-main";
import { buildOperatorApp } from "./app.js";
import { loadOperatorConfig, type NetworkPlan, type OperatorPlan } from "./config.js";
import { USAGE } from "./help-text.js";
import { Operator } from "./operator.js";
import { checkSigners, loadSenderAccounts, OPERATOR, type SenderAccounts } from "./transactions/accounts.js";

// By default V8 lets garbage grow to twice or three times what is in use before it collects it. By half of it, many feeds
// take as much CPU time and two thirds of the memory (`npm run bench:feeds`).
setFlagsFromString("--heap-growing-percent=50");

await runMain(async () => {
  const command = readCommand(process.argv.slice(2), USAGE);
  if (command.name === "help") return console.log(USAGE);
  const plan = await loadOperatorConfig(command.configFile, process.env);
  const chainIds = plan.networks.map(({ chainId }) => chainId);
  const closing = new AbortController();
  const senders = await loadSenderAccounts(process.env, chainIds, closing.signal);
  if (command.name === "serve") return serveRequests(plan, senders, closing);
  printConfigCheck(plan.networks, senders);
  console.log(`${command.configFile} is valid. Networks: ${chainIds.join(", ")}.`);
});

async function serveRequests(
  { config, networks: plans }: OperatorPlan,
  senders: SenderAccounts,
  closing: AbortController,
): Promise<void> {
  const logger = createLogger({ name: "operator", level: config.logLevel });
  logger.info(`signatures are checked and made by ${SECP256K1.name}`);
  const context = createContext(logger, closing.signal, processRegistry());
  await checkSigners(senders, logger);
  const operator = await Operator.connect(plans, senders, context);
  const app = await buildOperatorApp(operator, plans, config);
  await serve(app, config, context.registry, logger, { stop: () => closing.abort() });
}

/**
 * Prints what `--check-config` finds in a configuration that was read: warnings about how its keys are kept, about
 * feeds that are not sent, and the senders. It connects to nothing.
 */
function printConfigCheck(networks: readonly NetworkPlan[], senders: SenderAccounts): void {
  for (const { warnings } of new Set(senders.values())) for (const warning of warnings) console.error(warning);
  for (const { chainId, feeds } of networks) {
    const own = senders.get(chainId);
    if (feeds.size > 0 && own === undefined) {
      console.error(
        `network ${chainId}: its feeds are not sent, because it has no sender. Set ${namesOfAccounts(OPERATOR)}, or ` +
          "remove feeds.",
      );
    }
    const addresses = own?.accounts.map(({ address }) => address).join(", ");
    console.log(`Senders on network ${chainId}: ${addresses ?? "none, so nothing is broadcast"}.`);
  }
}
