import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { closeOnSignal } from "../process/close-on-signal.js";
import type { App } from "./app.js";
import { listen } from "./listen.js";
import { type MetricsSettings, serveMetrics } from "./metrics.js";

/**
 * Serves an app and its metrics until the process is told to stop.
 *
 * @param onStop Called before anything is closed.
 * @throws ConfigError when an address is in use or cannot be bound.
 */
export async function serve(
  app: App,
  settings: MetricsSettings & { readonly host: string; readonly port: number },
  registry: Registry,
  logger: Logger,
  onStop: () => void = () => {},
): Promise<void> {
  await listen(app, settings);
  const metrics = await serveMetrics(registry, settings);
  logger.info(`metrics for Prometheus at ${metrics.url}`);
  closeOnSignal(logger, async () => {
    onStop();
    await Promise.all([app.close(), metrics.close()]);
  });
}
