import { type App, buildApp } from "@dataset-oracle/service/http-server/app";
import { measureRequests } from "@dataset-oracle/service/http-server/metrics";
import { addOpenApi, gatherSchemas } from "@dataset-oracle/service/http-server/openapi";
import cors from "@fastify/cors";
import type { NetworkPlan, OperatorConfig, PluginName } from "./config.js";
import type { Operator } from "./operator.js";
import { feeds } from "./plugins/feeds/plugin.js";
import { gateway } from "./plugins/gateway/gateway.js";
import { page } from "./plugins/page/plugin.js";
import { watchdog } from "./plugins/watchdog/plugin.js";
import { addDataRequest } from "./routes/data-request.js";
import { addDatasets } from "./routes/datasets.js";
import { addHealth } from "./routes/health.js";
import { addNetworkMetrics } from "./routes/metrics.js";
import { newKeyLimit } from "./routes/new-key-limits.js";
import { problemOf, shuttingDown } from "./routes/problems.js";

export type OperatorAppSettings = Omit<
  OperatorConfig,
  "networks" | "host" | "port" | "metricsHost" | "metricsPort" | "logLevel"
>;

/** Builds the operator's service, without opening a port: the core, and the plugins that are configured. */
export async function buildOperatorApp(
  operator: Operator,
  plans: readonly NetworkPlan[],
  settings: OperatorAppSettings,
): Promise<App> {
  const { context } = operator;
  const { closing } = context;
  // The end of the operator ends everything, so an error then says nothing about the request.
  const problemUnlessClosing = (error: unknown) => (closing.aborted ? shuttingDown() : problemOf(error));
  const app = await buildApp(context, { ...settings, problemOf: problemUnlessClosing });
  app.decorate("operator", operator);
  measureRequests(app, context.registry);
  addNetworkMetrics(operator);
  app.setSerializerCompiler(() => serializeOnce());
  await gatherSchemas(app, API_DESCRIPTION);
  // Pages of any origin may ask and read answers: dapps call from their own pages, and there is no login to protect. What
  // watches a page adds headers to its requests, so any are allowed; and a public page may ask an operator that is local.
  app.addHook("onRequest", (request, reply, done) => {
    if (request.headers["access-control-request-private-network"] === "true")
      reply.header("access-control-allow-private-network", "true");
    done();
  });
  await app.register(cors, {
    origin: "*",
    methods: ["GET", "POST"],
    exposedHeaders: ["retry-after", "preference-applied", "x-request-id", "ratelimit", "ratelimit-policy", "link"],
    maxAge: 86_400,
    // OPTIONS is answered with 204 even without the headers of a browser's preflight.
    strictPreflight: false,
  });
  app.addHook("onReady", async () => operator.serve());

  await app.register(
    async (scope) => {
      const routes = scope as unknown as App;
      const { requestsPerMinute } = settings;
      routes.decorate("limitNewKeys", newKeyLimit(routes, settings.newKeysPerMinute));
      addDataRequest(routes, settings.broadcastsPerMinute);
      addDatasets(routes);
      addOpenApi(routes);

      const runs = (name: PluginName) => settings.plugins.includes(name);
      if (runs("watchdog")) await routes.register(watchdog);
      if (runs("feeds")) await routes.register(feeds, { plans });
      if (runs("gateway")) await routes.register(gateway);
      if (runs("page")) await routes.register(page, { plans, requestsPerMinute });
    },
    { prefix: settings.basePath },
  );
  // Health checks come from the process's own environment, so they do not depend on the base path.
  await app.register(async (scope) => addHealth(scope as unknown as App));
  return app;
}

const API_DESCRIPTION = {
  title: "Dataset Oracle operator",
  description:
    "Updates data points of dataset contracts: gathers the data providers' signed reports, and sends the update " +
    "transaction or hands it to the caller. No API key is needed. The paths are stable: a breaking change would be " +
    "served under /v2.",
  contact: "The operator's owner",
  tags: {
    data: "The data points, as they are stored and as they can be updated.",
    health: "The state of the process, for whoever runs it.",
  },
};

/**
 * Serializes each answer once, because callers share answers. Fastify's own serializer would check them against their
 * schemas, which only document what this program builds.
 */
function serializeOnce(): (answer: object) => string {
  const known = new WeakMap<object, string>();
  return (answer) => {
    const text = known.get(answer) ?? JSON.stringify(answer);
    known.set(answer, text);
    return text;
  };
}
