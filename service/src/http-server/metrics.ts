import { EventEmitter, once } from "node:events";
import { Type } from "@sinclair/typebox";
import Fastify, { type FastifyRequest } from "fastify";
import { Counter, collectDefaultMetrics, Gauge, Histogram, type LabelValues, Registry } from "prom-client";
import type { App } from "./app.js";
import { CONNECTION_LIMITS } from "./connection-limits.js";
import { listen } from "./listen.js";

/**
 * Returns the schema of the metrics settings. Metrics have an address of their own, because they are for the owner.
 *
 * @param port The default port.
 */
export const metricsSettings = (port: number) => ({
  metricsHost: Type.String({
    minLength: 1,
    default: "127.0.0.1",
    description: "The address on which Prometheus reads /metrics.",
  }),
  metricsPort: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: port,
    description: "The port on which Prometheus reads /metrics; 0 takes a free one.",
  }),
});
export interface MetricsSettings {
  readonly metricsHost: string;
  readonly metricsPort: number;
}

/** Creates a registry with the metrics of the process: CPU time, memory, event loop, garbage collection. */
export function processRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** One value of a metric, with its labels. */
type Sample<L extends string> = readonly [labels: Readonly<Record<L, string | number>>, value: number];

/**
 * Returns a function that adds a metric whose samples are read at every scrape: a counter if its name ends in `_total`,
 * otherwise a gauge. What has no sample any more is no longer shown.
 */
export function scrapedMetrics(registry: Registry) {
  return function add<L extends string>(
    name: string,
    labelNames: L[],
    help: string,
    read: () => readonly Sample<L>[] | Promise<readonly Sample<L>[]>,
  ): void {
    const settings = { name, help, labelNames, registers: [registry], collect };
    const counter = name.endsWith("_total") ? new Counter(settings) : null;
    const gauge = counter === null ? new Gauge(settings) : null;
    async function collect() {
      const samples = await read();
      counter?.reset();
      gauge?.reset();
      for (const [labels, value] of samples) {
        counter?.inc(labels as LabelValues<L>, value);
        gauge?.set(labels as LabelValues<L>, value);
      }
    }
  };
}

/**
 * Measures the duration of every request, by route and outcome: `ok`, or a problem's code. Call it before routes are
 * added.
 */
export function measureRequests(app: App, registry: Registry): void {
  const durations = new Histogram({
    name: "http_request_duration_seconds",
    help: "Duration of requests by route and outcome: ok, or the code of the problem.",
    labelNames: ["method", "route", "outcome"],
    registers: [registry],
  });
  app.addHook("onResponse", (request, reply, done) => {
    durations.observe(labelsOf(request), reply.elapsedTime / 1_000);
    done();
  });
}

/** Unknown paths and their methods share one label, because callers could invent any number of them. */
function labelsOf({ method, routeOptions: { url }, problemCode }: FastifyRequest) {
  const outcome = problemCode || "ok";
  return url === undefined ? { method: "none", route: "none", outcome } : { method, route: url, outcome };
}

/** The server of the metrics; it answers until it is closed. */
interface MetricsServer {
  readonly url: string;
  /** Waits until the metrics were read, but not longer than so many milliseconds. */
  untilRead(ms: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * Serves a registry's metrics at `/metrics`.
 *
 * @param isStarted Until it returns true, the answer is 503.
 * @throws ExitError when the address cannot be listened on.
 */
export async function serveMetrics(
  registry: Registry,
  { metricsHost, metricsPort }: MetricsSettings,
  isStarted: () => boolean,
): Promise<MetricsServer> {
  const app = Fastify({ ...CONNECTION_LIMITS, forceCloseConnections: true });
  app.get("/metrics", async (_request, reply) => {
    if (!isStarted()) return reply.status(503).send("The service is starting.\n");
    return reply.type(registry.contentType).send(await registry.metrics());
  });
  const reads = new EventEmitter();
  app.addHook("onResponse", async () => void reads.emit("read"));
  const url = await listen(app, { host: metricsHost, port: metricsPort }, { host: "metricsHost", port: "metricsPort" });
  return {
    url: `${url}/metrics`,
    untilRead: async (ms) => void (await once(reads, "read", { signal: AbortSignal.timeout(ms) }).catch(() => {})),
    close: () => app.close(),
  };
}
