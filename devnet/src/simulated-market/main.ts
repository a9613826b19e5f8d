#!/usr/bin/env node
import { requireReachablePort } from "@dataset-oracle/service/config/blocked-ports";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { closeOnSignal } from "@dataset-oracle/service/process/close-on-signal";
import { runMain } from "@dataset-oracle/service/process/run-main";
import { readArguments } from "@dataset-oracle/tools/arguments";
import { pino } from "pino";
import { startMarket } from "./server.js";

const USAGE = `Usage: node devnet/dist/simulated-market/main.js [options]

Serves simulated prices on loopback in the formats of the exchanges that providers read.

  --port N   the port (default: 8600)
  --seed N   the seed of the prices: the same seed gives the same prices (default: 1)
  --help     show this text`;

await runMain(async () => {
  const { values } = readArguments(USAGE, {
    port: { type: "string", default: "8600", range: [0, 65_535] },
    seed: { type: "string", default: "1", range: [0, 2 ** 32 - 1] },
  });
  requireReachablePort("--port", Number(values.port));
  const seed = Number(values.seed);
  const logger = pino();
  const market = await startMarket({ port: Number(values.port), seed }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EADDRINUSE") throw error;
    throw new ConfigError(`Port ${values.port} is in use. Choose another --port.`);
  });
  logger.warn({ url: market.url, seed }, "the market is simulated: no price here is real");
  closeOnSignal(logger, () => market.close());
});
