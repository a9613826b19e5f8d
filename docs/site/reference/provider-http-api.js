// Generates the reference of a provider's HTTP API from its OpenAPI document.

import { withProviderAppForDocs } from "../app-for-docs.js";
import { operationSection } from "./http-operations.js";

export async function providerHttpReference() {
  /** @type {{ info: { description: string }, paths: Record<string, Record<string, import("./http-operations.js").Operation>> }} */
  const { info, paths } = await withProviderAppForDocs(async (app) => (await app.inject("/openapi.json")).json());
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
