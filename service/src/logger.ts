import { destination, type Logger, type LoggerOptions, pino } from "pino";

/** Lines are written together: so many bytes, or what there is after so long. */
const BUFFER_BYTES = 8 * 1024;
const FLUSH_MS = 100;

/**
 * A service's log on standard output. What is not written when the process ends by itself is written then; one that is
 * killed loses the last lines.
 */
export function createLogger(options: Pick<LoggerOptions, "name" | "level" | "mixin"> = {}): Logger {
  const output = destination({ sync: false, minLength: BUFFER_BYTES, periodicFlush: FLUSH_MS });
  return pino(options, output);
}
