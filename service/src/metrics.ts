import { type Static, Type } from "@sinclair/typebox";
import Fastify, { type FastifyRequest } from "fastify";
import { collectDefaultMetrics, Histogram, Registry } from "prom-client";
import type { App } from "./app.js";
import { CONNECTION_LIMITS } from "./connections.js";
import { listen } from "./listen.js";

/**
 * The settings of where a service's figures are read: on an address of their own, as they are for its owner.
 *
 * @param port The default.
 */
export const metricsSettings = (port: number) => ({
  metricsHost: Type.String({ default: "127.0.0.1", description: "The address on which Prometheus reads /metrics." }),
  metricsPort: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: port,
    description: "The port on which Prometheus reads /metrics; 0 takes a free one.",
  }),
});
export interface MetricsSettings {
  readonly metricsHost: string;
  readonly metricsPort: Static<ReturnType<typeof metricsSettings>["metricsPort"]>;
}

/** A registry with the figures of the process: CPU time, memory, event loop, garbage collection. */
export function processRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/**
 * Measures every request of a service: how long it took, by route, and by its outcome: `ok`, or a problem's code. It
 * belongs before the routes are added.
 */
export function measureRequests(app: App, registry: Registry): void {
  const durations = new Histogram({
    name: "http_request_duration_seconds",
    help: "How long requests took, by route and outcome: ok, or the code of the problem.",
    labelNames: ["method", "route", "outcome"],
    registers: [registry],
  });
  app.addHook("onResponse", (request, reply, done) => {
    durations.observe(labelsOf(request), reply.elapsedTime / 1_000);
    done();
  });
}

/** What strangers make up is no label: there would be no end of them. */
function labelsOf({ method, routeOptions: { url }, problemCode }: FastifyRequest) {
  const outcome = problemCode || "ok";
  return url === undefined ? { method: "none", route: "none", outcome } : { method, route: url, outcome };
}

/** Where figures are read; it answers until it is closed. */
export interface MetricsServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves a registry's figures at `/metrics`, and nothing else.
 *
 * @throws ConfigError when the address can't be listened on.
 */
export async function serveMetrics(
  registry: Registry,
  { metricsHost, metricsPort }: MetricsSettings,
): Promise<MetricsServer> {
  const app = Fastify({ ...CONNECTION_LIMITS, forceCloseConnections: true });
  app.get("/metrics", async (_request, reply) => reply.type(registry.contentType).send(await registry.metrics()));
  const url = await listen(app, { host: metricsHost, port: metricsPort }, { host: "metricsHost", port: "metricsPort" });
  return { url: `${url}/metrics`, close: () => app.close() };
}
