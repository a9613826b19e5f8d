import { pino } from "pino";
import { Registry } from "prom-client";
import { Metrics } from "../../src/metrics.js";
import { SenderBalances } from "../../src/sender-balances.js";

/** Returns the names of the operator's metrics. */
export function metricNames(): string[] {
  const registry = new Registry();
  new Metrics(registry).watch([], new SenderBalances([], Date.now, pino({ level: "silent" })), Date.now);
  return registry.getMetricsAsArray().map(({ name }) => name);
}
