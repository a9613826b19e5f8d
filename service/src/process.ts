import type { Logger } from "pino";
import { ConfigError } from "./config.js";

/** How long a shutdown may take before the process ends anyway. */
const SHUTDOWN_MS = 10_000;

/**
 * Ends the process cleanly on SIGTERM and SIGINT: `close` is called once, and given a bounded time.
 */
export function closeOnSignal(logger: Logger, close: () => Promise<void>): void {
  let isClosing = false;
  const stop = (signal: NodeJS.Signals) => {
    if (isClosing) return;
    isClosing = true;
    logger.info({ signal }, "shutting down");
    const timer = setTimeout(() => {
      logger.error(`not shut down within ${SHUTDOWN_MS} ms`);
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

/**
 * Runs a process's story. A ConfigError is told to the person at the terminal without a stack, and ends it with 2.
 */
export async function runMain(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.error(error.message);
    process.exit(2);
  }
}
