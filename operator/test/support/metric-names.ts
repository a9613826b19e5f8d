import { withAppForDocs } from "../../src/app-for-docs.js";
import { createCoreMetrics } from "../../src/metrics.js";

/** Returns the names of the operator's metrics, with those of all plugins. */
export function metricNames(): Promise<string[]> {
  return withAppForDocs(async (app) => {
    const { registry } = app.operator.context;
    createCoreMetrics(registry);
    return registry.getMetricsAsArray().flatMap(({ name }) => (name.startsWith("operator_") ? [name] : []));
  });
}
