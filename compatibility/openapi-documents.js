// The OpenAPI documents of both services, without starting them.

import { withAppForDocs, withProviderAppForDocs } from "../docs/site/app-for-docs.js";

/** @param {Pick<import("@dataset-oracle/service/http-server/app").App, "inject">} app */
const documentOf = async (app) => (await app.inject("/openapi.json")).json();

/** Returns the documents that an operator with all plugins and a provider serve at `/openapi.json`. */
export async function openApiDocuments() {
  return { operator: await withAppForDocs(documentOf), provider: await withProviderAppForDocs(documentOf) };
}
