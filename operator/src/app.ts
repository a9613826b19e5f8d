import { type App, buildApp } from "@dataset-oracle/service/http-server/app";
import { measureRequests } from "@dataset-oracle/service/http-server/metrics";
import { gatherSchemas } from "@dataset-oracle/service/http-server/openapi";
import { serializeOnce } from "@dataset-oracle/service/http-server/serialize-once";
import type { Registry } from "prom-client";
import type { OperatorConfig } from "./config.js";
import { addAlerts } from "./http/alerts.js";
import { API_DESCRIPTION, addDocs } from "./http/api-docs.js";
import { addCcipReadGateway } from "./http/ccip-read-gateway.js";
import { addContradictions } from "./http/contradictions.js";
import { allowAnyOrigin } from "./http/cors.js";
import { addData } from "./http/data.js";
import { addDataRequest } from "./http/data-request.js";
import { addDatasets } from "./http/datasets.js";
import { addEvidence } from "./http/evidence.js";
import { addForwardedDataRequest } from "./http/forwarded-data-request.js";
import { addHealth } from "./http/health.js";
import { addHistory } from "./http/history.js";
import { newKeyLimit } from "./http/new-key-limits.js";
import { addOverview } from "./http/overview.js";
import { addReports } from "./http/reports-between-nodes.js";
import { addSpecRoutes } from "./http/spec-routes.js";
import { addGuide, addPage } from "./http/static-sites.js";
import { addTransactions } from "./http/transactions-between-nodes.js";
import type { Operator } from "./operator.js";
import { Overview } from "./overview/overview.js";

export type AppSettings = Pick<
  OperatorConfig,
  | "basePath"
  | "requestsPerMinute"
  | "broadcastsPerMinute"
  | "newKeysPerMinute"
  | "nodeRequestsPerMinute"
  | "maxConnections"
  | "maxConnectionsPerCaller"
  | "trustedProxies"
>;

/**
 * Builds the operator's HTTP side, without opening a port.
 *
 * @param isForDocs True to add every operation, also those for nodes where no network can have nodes.
 */
export async function buildOperatorApp(
  operator: Operator,
  settings: AppSettings,
  registry: Registry,
  isForDocs = false,
): Promise<App> {
  const app = await buildApp({ ...settings, logger: operator.logger });
  measureRequests(app, registry);
  const networks = [...operator.networks.values()];
  app.setSerializerCompiler(() => serializeOnce());
  await gatherSchemas(app, API_DESCRIPTION);
  await allowAnyOrigin(app);
  const overview = new Overview(operator);
  await app.register(
    async (scope) => {
      const routes = scope as unknown as App;
      const limitNewKeys = newKeyLimit(routes, settings.newKeysPerMinute);
      addDataRequest(routes, operator, settings, limitNewKeys);
      await addCcipReadGateway(routes, operator, limitNewKeys);
      if (isForDocs || networks.some(({ authentication }) => authentication !== null))
        addForwardedDataRequest(routes, operator, settings);
      if (isForDocs || networks.some(({ canHaveOtherNodes }) => canHaveOtherNodes)) {
        addTransactions(routes, operator, settings);
        addReports(routes, operator, settings.requestsPerMinute);
      }
      addDatasets(routes, operator);
      addOverview(routes, overview, settings.requestsPerMinute);
      addData(routes, operator, overview, settings.requestsPerMinute);
      addHistory(routes, operator, settings.requestsPerMinute);
      addAlerts(routes, operator, settings.requestsPerMinute);
      addEvidence(routes, operator, settings.requestsPerMinute);
      addContradictions(routes, operator, settings.requestsPerMinute);
      addSpecRoutes(routes, operator, settings.requestsPerMinute);
      await addDocs(routes);
      await addGuide(routes);
      if (!(await addPage(routes)))
        operator.logger.warn("the page is not built, so it is not served: run npm run build");
    },
    { prefix: settings.basePath },
  );
  // Health checks come from the process's own environment, so they do not depend on the base path.
  await app.register(async (scope) => addHealth(scope as unknown as App, operator));
  return app;
}
