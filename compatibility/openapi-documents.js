// The OpenAPI documents of both services, without starting them.

import { routes } from "@dataset-oracle/provider/dist/routes.js";
import { buildApp } from "@dataset-oracle/service/http-server/app";
import { createLogger } from "@dataset-oracle/service/process/logger";
import { withAppForDocs } from "../docs/site/app-for-docs.js";

/** @param {Pick<import("@dataset-oracle/service/http-server/app").App, "inject">} app */
const documentOf = async (app) => (await app.inject("/openapi.json")).json();

/** Returns the documents that an operator with all plugins and a provider serve at `/openapi.json`. */
export async function openApiDocuments() {
  const logger = createLogger({ level: "silent" });
  const app = await buildApp({ logger, requestsPerMinute: 1, maxConnections: 1, trustedProxies: [] });
  // Describing the routes calls none of them.
  const unused = /** @type {any} */ (null);
  await app.register(routes({ reporter: unused, decider: unused, isOperator: () => false, anonymousPerMinute: 1 }));
  try {
    return { operator: await withAppForDocs(documentOf), provider: await documentOf(app) };
  } finally {
    await app.close();
  }
}
