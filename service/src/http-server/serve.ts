import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { closeOnSignal } from "../process/close-on-signal.js";
import type { App } from "./app.js";
import { listen } from "./listen.js";
import { type MetricsSettings, serveMetrics } from "./metrics.js";

/**
 * How long a process that nobody starts again waits for Prometheus, in milliseconds: a little more than the interval at
 * which it reads. Nothing else could tell it why the process has ended.
 */
const LAST_READ_MS = 20_000;

interface Phases {
  /**
   * Called when both addresses are this process's own, with a function that shuts it down with an exit code; unless that
   * is 1, after its metrics were read once more. What two processes must not both have is taken here, so that a second
   * one with the same configuration harms nobody.
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
  await start(async (exitCode) => {
    if (exitCode !== 1) await metrics.untilRead(LAST_READ_MS);
    end(exitCode);
  });
  isStarted = true;
  logger.info(`metrics for Prometheus at ${metrics.url}`);
}
