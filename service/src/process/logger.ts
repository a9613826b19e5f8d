import { destination, type Logger, type LoggerOptions, pino } from "pino";

/**
 * Lines are written together, because one write is cheaper than many. A larger buffer is slower, because pino measures
 * it at each line.
 */
const BUFFER_BYTES = 4_096;
/** The longest that a line waits. */
const FLUSH_MS = 100;
/** What is kept while nothing can be written, for example because the disk is full; further lines are dropped. */
const MAX_BUFFERED = 1024 * 1024;

/**
 * Creates a service's log on standard output. Lines that are buffered when the process exits are written then; a
 * process that is killed loses its last moments. A service goes on, and can exit, while its log cannot be written.
 */
export function createLogger(options: Pick<LoggerOptions, "name" | "level"> = {}): Logger {
  // Synchronous, because an asynchronous write that is under way when the process exits could be lost.
  const output = destination({
    sync: true,
    minLength: BUFFER_BYTES,
    maxLength: MAX_BUFFERED,
    periodicFlush: FLUSH_MS,
  });
  // There is nowhere to report it. The lines are written with the next ones, if that succeeds.
  output.on("error", () => {});
  // Not `flushSync`, which repeats a failed write forever.
  process.once("exit", () => output.flush());
  return pino(options, output);
}

/** Returns an unexpected error as the `reason` of a log line: its stack, and those of its causes. */
export const stackOf = (error: unknown): string =>
  error instanceof Error ? pino.stdSerializers.err(error).stack : String(error);
