import type { Logger } from "pino";
import { stackOf } from "./logger.js";

/** The process ends after this long, even if its shutdown has not finished. */
const SHUTDOWN_MS = 10_000;

/**
 * Shuts the process down on SIGTERM and SIGINT. `close` is called once, and its time is limited.
 *
 * @returns A function that shuts it down with an exit code.
 */
export function closeOnSignal(logger: Logger, close: () => Promise<void>): (exitCode: number) => void {
  let isClosing = false;
  const end = (exitCode: number, why: object) => {
    if (isClosing) return;
    isClosing = true;
    logger.info(why, "shutting down");
    const timer = setTimeout(() => {
      logger.error(`shutdown did not finish within ${SHUTDOWN_MS} ms`);
      process.exit(exitCode || 1);
    }, SHUTDOWN_MS);
    timer.unref();
    close().then(
      () => process.exit(exitCode),
      (error: unknown) => {
        logger.error({ reason: stackOf(error) }, "shutdown failed");
        process.exit(exitCode || 1);
      },
    );
  };
  const stop = (signal: NodeJS.Signals) => end(0, { signal });
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
  return (exitCode) => end(exitCode, { exitCode });
}
