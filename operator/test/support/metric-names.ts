import { startOperator } from "./operator.js";

/** Returns the names of the operator's metrics, with those of all plugins. */
export async function metricNames(): Promise<string[]> {
  const { registry } = await startOperator([]);
  return registry.getMetricsAsArray().flatMap(({ name }) => (name.startsWith("operator_") ? [name] : []));
}
