// Builds the operator's HTTP app as the reference documents it.

import { buildOperatorApp } from "@dataset-oracle/operator/dist/app.js";
import { OperatorConfig } from "@dataset-oracle/operator/dist/config.js";
import { connectNetworks } from "@dataset-oracle/operator/dist/operator.js";
import { processRegistry } from "@dataset-oracle/service/http-server/metrics";
import { createLogger } from "@dataset-oracle/service/process/logger";

/** @type {any} */
const SETTINGS = Object.fromEntries(
  Object.entries(OperatorConfig.properties).map(([name, { default: value }]) => [name, value]),
);

/** @type {typeof import("./app-for-docs.js").withAppForDocs} */
export async function withAppForDocs(ask) {
  const closing = new AbortController();
  const logger = createLogger({ level: "silent" });
  const context = { clock: Date.now, logger, closing: closing.signal, registry: processRegistry() };
  const app = await buildOperatorApp(await connectNetworks([], new Map(), context), [], SETTINGS);
  await app.ready();
  try {
    return await ask(app);
  } finally {
    closing.abort();
    await app.close();
  }
}
