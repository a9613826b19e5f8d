import { destination, type Logger, type LoggerOptions, pino } from "pino";

/** Lines are written together: so many characters, or what there is after so long. */
const BUFFER = 64 * 1024;
const FLUSH_MS = 100;

/**
 * A service's log on standard output. What is not written when the process ends by itself is written then; one that is
 * killed loses what it wrote in the last moments.
 */
export function createLogger(options: Pick<LoggerOptions, "name" | "level" | "mixin"> = {}): Logger {
  return pino(options, new LineBuffer());
}

class LineBuffer {
  /** One write of many lines is cheap; one that is under way when the process ends could be lost. */
  readonly #output = destination({ sync: true });
  #lines = "";
  #timer: NodeJS.Timeout | null = null;

  constructor() {
    process.once("exit", () => this.#flush());
  }

  write(line: string): void {
    this.#lines += line;
    if (this.#lines.length >= BUFFER) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS).unref();
  }

  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#lines !== "") this.#output.write(this.#lines);
    this.#lines = "";
  }
}
