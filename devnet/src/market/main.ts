#!/usr/bin/env node
import { parseArgs } from "node:util";
import { ConfigError } from "@dataset-oracle/service/config";
import { closeOnSignal, runMain } from "@dataset-oracle/service/process";
import { pino } from "pino";
import { startMarket } from "./server.js";

await runMain(async () => {
  const { port, seed } = readArguments();
  const logger = pino();
  const market = await startMarket({ port, seed }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EADDRINUSE") throw error;
    throw new ConfigError(`Port ${port} is in use. Choose another --port.`);
  });
  logger.warn({ url: market.url, seed }, "the market is simulated: no price here is real");
  closeOnSignal(logger, () => market.close());
});

function readArguments(): { port: number; seed: number } {
  const { values } = parseArgs({
    options: { port: { type: "string", default: "8600" }, seed: { type: "string", default: "1" } },
  });
  return { port: integer("--port", values.port, 65_535), seed: integer("--seed", values.seed, 2 ** 32 - 1) };
}

function integer(name: string, text: string, max: number): number {
  if (!/^\d{1,10}$/.test(text) || Number(text) > max) {
    throw new ConfigError(`${name} is an integer from 0 to ${max}, not "${text}".`);
  }
  return Number(text);
}
