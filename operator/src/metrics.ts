import { Counter, Histogram, type Registry } from "prom-client";

export type CoreMetrics = ReturnType<typeof createCoreMetrics>;

/** Creates the metrics that the core counts as things happen. Keys of anonymous requests never become labels. */
export function createCoreMetrics(registry: Registry) {
  const registers = [registry];
  return {
    providerRequests: new Histogram({
      name: "operator_provider_request_duration_seconds",
      help: "Duration of provider requests, by outcome: ok, or the reason why the answer was not used.",
      labelNames: ["network", "provider", "outcome"],
      registers,
    }),
    coalesced: new Counter({
      name: "operator_coalesced_total",
      help: "Work that was shared instead of repeated, by kind.",
      labelNames: ["work"],
      registers,
    }),
    rpcErrors: new Counter({
      name: "operator_rpc_errors_total",
      help: "Failed RPC calls, by class: timeout, failed, or refused if the node answered with an error.",
      labelNames: ["network", "endpoint", "method", "class"],
      registers,
    }),
  } as const;
}
