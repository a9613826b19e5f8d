import { type App, buildApp } from "@dataset-oracle/service/app";
import cors from "@fastify/cors";
import type { OperatorConfig } from "./config.js";
import { addDataRequest } from "./http/data-request.js";
import { addDatasets } from "./http/datasets.js";
import type { Operator } from "./operator.js";

export type AppSettings = Pick<OperatorConfig, "basePath" | "requestsPerMinute" | "trustedProxies">;

/** The operator's HTTP side. It opens no port. */
export async function buildOperatorApp(operator: Operator, settings: AppSettings): Promise<App> {
  const app = await buildApp({ ...settings, logger: operator.logger });
  // Dapps post from their own pages. There is nothing to authenticate with, so any origin may.
  await app.register(cors, {
    origin: "*",
    methods: ["GET", "POST"],
    allowedHeaders: ["content-type", "accept", "prefer"],
    exposedHeaders: [
      "retry-after",
      "preference-applied",
      "x-ratelimit-limit",
      "x-ratelimit-remaining",
      "x-ratelimit-reset",
    ],
    maxAge: 86_400,
    strictPreflight: false,
  });
  await app.register(
    async (routes) => {
      addDataRequest(routes as unknown as App, operator);
      addDatasets(routes as unknown as App, operator);
    },
    { prefix: settings.basePath },
  );
  // Beside the base path, for whoever starts the process.
  await app.register(async (routes) => {
    routes.get("/live", { config: { rateLimit: false } }, async () => ({ live: true }));
  });
  return app;
}
