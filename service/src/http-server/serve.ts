import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { closeOnSignal } from "../process/close-on-signal.js";
import type { App } from "./app.js";
import { listen } from "./listen.js";
import { type MetricsSettings, serveMetrics } from "./metrics.js";

interface Phases {
  /**
   * Called when both addresses are this process's own, with a function that shuts it down with an exit code. What two
   * processes must not both have is taken here, so that a second one with the same configuration harms nobody.
   */
  readonly start?: (end: (exitCode: number) => void) => Promise<void>;
  /** Called before anything is closed. */
  readonly stop?: () => void;
}

/**
 * Serves an app and its metrics until the process is told to stop. The metrics are answered with 503 until it has
 * started; what the app answers until then is left to it.
 *
 * @throws ExitError when an address cannot be listened on.
 */
export async function serve(
  app: App,
  settings: MetricsSettings & { readonly host: string; readonly port: number },
  registry: Registry,
  logger: Logger,
  { start = async () => {}, stop = () => {} }: Phases = {},
): Promise<void> {
  let isStarted = false;
  await listen(app, settings);
  const metrics = await serveMetrics(registry, settings, () => isStarted);
  const end = closeOnSignal(logger, async () => {
    stop();
    await Promise.all([app.close(), metrics.close()]);
  });
  await start(end);
  isStarted = true;
  logger.info(`metrics for Prometheus at ${metrics.url}`);
}
