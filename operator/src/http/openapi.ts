import { Problem } from "@dataset-oracle/protocol/wire";
import type { App } from "@dataset-oracle/service/app";
import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import { Type } from "@sinclair/typebox";
import { STATIC_POLICY, shareBytes, staticRate } from "./static-files.js";

const header = (description: string) => Type.String({ description });

/** The caller's rate limits. Every response has these headers, except for the health checks. */
export const RATE_HEADERS = {
  "RateLimit-Policy": header("The limits that count this request: q requests in w seconds."),
  RateLimit: header("How many requests r each of them has left, and in how many seconds t the count starts again."),
};

/** The responses that every route of the API may give besides 200. */
export const PROBLEMS = {
  429: {
    description: "A limit is used up: too_many_requests, too_many_broadcasts or gas_budget_spent.",
    headers: { ...RATE_HEADERS, "Retry-After": header("When to try again, in seconds.") },
    content: { "application/problem+json": { schema: Problem } },
  },
  "4xx": { description: "A problem of the request.", content: { "application/problem+json": { schema: Problem } } },
  "5xx": { description: "A problem on this side.", content: { "application/problem+json": { schema: Problem } } },
};

/** Collects the schemas of all routes registered afterwards. */
export async function gatherSchemas(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Dataset Oracle operator",
        description:
          "Updates data points of dataset contracts: gathers the data providers' signed reports, and sends the update " +
          "transaction or hands it to the caller. No API key is needed. The paths are stable: a breaking change would be " +
          "served under /v2.",
        version: "1",
        license: { name: "MIT", identifier: "MIT" },
      },
    },
  });
}

/**
 * Adds `GET /openapi.json`, generated from the schemas that validate requests, and `GET /docs`, a page that shows it and
 * sends requests to try it out.
 */
export async function addDocs(app: App): Promise<void> {
  app.get("/openapi.json", { schema: { hide: true } }, async () => app.swagger());
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
      staticCSP: STATIC_POLICY,
      theme: { title: "Dataset Oracle operator: API" },
      uiConfig: { layout: "BaseLayout", docExpansion: "list", defaultModelsExpandDepth: -1, tryItOutEnabled: false },
    });
  });
}
