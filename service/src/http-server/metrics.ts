import type { FastifyRequest } from "fastify";
import { Counter, collectDefaultMetrics, Gauge, Histogram, type LabelValues, Registry } from "prom-client";
import type { App } from "./app.js";

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
