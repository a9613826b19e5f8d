import type { Logger } from "pino";

/** The process ends after this long, even if its shutdown has not finished. */
const SHUTDOWN_MS = 10_000;

/**
 * Shuts the process down on SIGTERM and SIGINT. `close` is called once, and its time is limited.
 */
export function closeOnSignal(logger: Logger, close: () => Promise<void>): void {
  let isClosing = false;
  const stop = (signal: NodeJS.Signals) => {
    if (isClosing) return;
    isClosing = true;
    logger.info({ signal }, "shutting down");
    const timer = setTimeout(() => {
      logger.error(`shutdown did not finish within ${SHUTDOWN_MS} ms`);
      process.exit(1);
    }, SHUTDOWN_MS);
    timer.unref();
    close().then(
      () => process.exit(0),
      (error: unknown) => {
        logger.error({ err: error }, "shutdown failed");
        process.exit(1);
      },
    );
  };
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
}
