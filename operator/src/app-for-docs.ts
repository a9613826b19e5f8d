import type { App } from "@dataset-oracle/service/http-server/app";
import { Value } from "@sinclair/typebox/value";
import { pino } from "pino";
import { Registry } from "prom-client";
import { type AppSettings, buildOperatorApp } from "./app.js";
import { OperatorConfig } from "./config.js";
import { Metrics } from "./metrics.js";
import { startOperator } from "./operator.js";

/**
 * Calls `ask` with the HTTP app that the reference documents: of an operator that serves no network and opens no port,
 * with all operations that an operator can serve.
 */
export async function withAppForDocs<T>(ask: (app: App) => T | Promise<T>): Promise<T> {
  const registry = new Registry();
  const closing = new AbortController();
  const logger = pino({ level: "silent" });
  const context = { clock: Date.now, logger, closing: closing.signal, metrics: new Metrics(registry) };
  const operator = await startOperator([], new Map(), context);
  const app = await buildOperatorApp(operator, Value.Default(OperatorConfig, {}) as AppSettings, registry, true);
  await app.ready();
  try {
    return await ask(app);
  } finally {
    closing.abort();
    await app.close();
  }
}
