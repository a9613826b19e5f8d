import type { App } from "@dataset-oracle/service/http-server/app";
import { Value } from "@sinclair/typebox/value";
import { pino } from "pino";
import { Registry } from "prom-client";
import { type AppSettings, buildOperatorApp } from "./app.js";
import { OperatorConfig } from "./config.js";

/**
 * Calls `ask` with the HTTP app that the reference documents: of an operator that serves no network and opens no port,
 * with all plugins.
 */
export async function withAppForDocs<T>(ask: (app: App) => T | Promise<T>): Promise<T> {
  const closing = new AbortController();
  const logger = pino({ level: "silent" });
  const context = { clock: Date.now, logger, closing: closing.signal, registry: new Registry() };
  const settings = Value.Default(OperatorConfig, {}) as AppSettings;
  const app = await buildOperatorApp({ context, networks: new Map() }, [], settings);
  await app.ready();
  try {
    return await ask(app);
  } finally {
    closing.abort();
    await app.close();
  }
}
