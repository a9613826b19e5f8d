// Generates the reference of a provider's HTTP API from its OpenAPI document.

import { routes } from "@dataset-oracle/provider/dist/routes.js";
import { buildApp } from "@dataset-oracle/service/http-server/app";
import { createLogger } from "@dataset-oracle/service/process/logger";
import { operationSection } from "./http-operations.js";

export async function providerHttpReference() {
  const { info, paths } = await describe();
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      operationSection(`${method.toUpperCase()} ${path}`, operation, ""),
    ),
  );
  return [
    "# A provider's HTTP API",
    info.description,
    "Generated from the OpenAPI 3.1 document that a provider serves at `GET /openapi.json`. Problems are " +
      "`application/problem+json`, with a `title`, a `status`, a stable `code`, and a `detail` that says what to do.",
    ...operations,
  ].join("\n\n");
}

/**
 * Returns the OpenAPI document of a provider that answers nothing else and opens no port.
 *
 * @returns {Promise<{ info: { description: string }, paths: Record<string, Record<string, import("./http-operations.js").Operation>> }>}
 */
async function describe() {
  const logger = createLogger({ level: "silent" });
  const app = await buildApp({ logger, requestsPerMinute: 1, maxConnections: 1, trustedProxies: [] });
  // Describing the routes calls none of them.
  const unused = /** @type {any} */ (null);
  await app.register(routes({ reporter: unused, decider: unused, isOperator: () => false, anonymousPerMinute: 1 }));
  try {
    return (await app.inject("/openapi.json")).json();
  } finally {
    await app.close();
  }
}
