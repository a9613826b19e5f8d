import type { App } from "@dataset-oracle/service/http-server/app";
import { type ApiDescription, addOpenApi } from "@dataset-oracle/service/http-server/openapi";
import swaggerUi from "@fastify/swagger-ui";
import { STATIC_CSP, shareBytes, staticRate } from "./static-sites.js";
import { DOCS_SCRIPT, DOCS_STYLE } from "./swagger-ui-fixes.js";

export const API_DESCRIPTION: ApiDescription = {
  title: "Dataset Oracle operator",
  description:
    "Updates data points of dataset contracts: gathers the data providers' signed reports, and sends the update " +
    "transaction or hands it to the caller. No API key is needed. The paths are stable: a breaking change would be " +
    "served under /v2.",
  contact: "The operator's owner",
  tags: {
    data: "The data points, as they are stored and as they can be updated.",
    trials: "Trials of Web Oracle request specs. Nothing is signed.",
    nodes: "The exchange between the nodes of one network.",
    health: "The state of the process, for whoever runs it.",
  },
};

/** Adds `GET /openapi.json`, and `GET /docs`, a page that shows it and sends requests to try it out. */
export async function addDocs(app: App): Promise<void> {
  addOpenApi(app);
  await app.register(async (scope) => {
    const rate = staticRate("docs");
    scope.addHook("onRoute", (route) => {
      route.config = { ...route.config, rate };
    });
    shareBytes(scope as unknown as App);
    await scope.register(swaggerUi, {
      routePrefix: "/docs",
      // The page then loads its files by relative paths, which work below any base path.
      indexPrefix: ".",
      staticCSP: STATIC_CSP,
      theme: {
        title: "Dataset Oracle operator: API",
        css: [{ filename: "correct.css", content: DOCS_STYLE }],
        js: [{ filename: "correct.js", content: DOCS_SCRIPT }],
      },
      uiConfig: { layout: "BaseLayout", docExpansion: "list", defaultModelsExpandDepth: -1, tryItOutEnabled: false },
    });
  });
}
