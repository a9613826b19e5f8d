import { destination, type Logger, type LoggerOptions, pino } from "pino";

/**
 * Lines are written together, because one write is cheaper than many. A larger buffer is slower, because pino measures
 * it at each line.
 */
const BUFFER_BYTES = 4_096;
/** The longest that a line waits. */
const FLUSH_MS = 100;

/**
 * Creates a service's log on standard output. Lines that are buffered when the process exits are written then; a
 * process that is killed loses its last moments.
 */
export function createLogger(options: Pick<LoggerOptions, "name" | "level"> = {}): Logger {
  // Synchronous, because an asynchronous write that is under way when the process exits could be lost.
  const output = destination({ sync: true, minLength: BUFFER_BYTES, periodicFlush: FLUSH_MS });
  process.once("exit", () => output.flushSync());
  return pino(options, output);
}
