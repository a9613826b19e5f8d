// Builds the HTTP apps of the operator and of a provider as the references document them.

import { buildOperatorApp } from "@dataset-oracle/operator/dist/app.js";
import { OperatorConfig } from "@dataset-oracle/operator/dist/config.js";
import { Operator } from "@dataset-oracle/operator/dist/operator.js";
import { routes } from "@dataset-oracle/provider/dist/routes.js";
import { buildApp } from "@dataset-oracle/service/http-server/app";
import { processRegistry } from "@dataset-oracle/service/http-server/metrics";
import { createContext } from "@dataset-oracle/service/process/context";
import { createLogger } from "@dataset-oracle/service/process/logger";

/** @type {any} */
const SETTINGS = Object.fromEntries(
  Object.entries(OperatorConfig.properties).map(([name, { default: value }]) => [name, value]),
);

/** @type {typeof import("./app-for-docs.js").withAppForDocs} */
export async function withAppForDocs(ask) {
  const closing = new AbortController();
  const logger = createLogger({ level: "silent" });
  const context = createContext(logger, closing.signal, processRegistry());
  const app = await buildOperatorApp(await Operator.connect([], new Map(), context), [], SETTINGS);
  await app.ready();
  try {
    return await ask(app);
  } finally {
    closing.abort();
    await app.close();
  }
}

/** @type {typeof import("./app-for-docs.js").withProviderAppForDocs} */
export async function withProviderAppForDocs(ask) {
  const logger = createLogger({ level: "silent" });
  const context = createContext(logger, new AbortController().signal, processRegistry());
  const app = await buildApp(context, { requestsPerMinute: 1, maxConnections: 1, trustedProxies: [] });
  // Describing the routes calls none of them.
  const unused = /** @type {any} */ (null);
  await app.register(routes(unused, unused, { isOperator: () => false, onOperator: () => {}, anonymousPerMinute: 1 }));
  try {
    return await ask(app);
  } finally {
    await app.close();
  }
}

/** @param {Pick<import("@dataset-oracle/service/http-server/app").App, "inject">} app */
const documentOf = async (app) => (await app.inject("/openapi.json")).json();

/** @type {typeof import("./app-for-docs.js").openApiDocuments} */
export async function openApiDocuments() {
  return { operator: await withAppForDocs(documentOf), provider: await withProviderAppForDocs(documentOf) };
}
