import { destination, type Logger, type LoggerOptions, pino } from "pino";

/** Lines are written together: so many bytes, or what there is after so long. */
const BUFFER = 64 * 1024;
const FLUSH_MS = 100;

/**
 * A service's log on standard output. What is not written when the process ends by itself is written then; one that is
 * killed loses what it wrote in the last moments.
 */
export function createLogger(options: Pick<LoggerOptions, "name" | "level"> = {}): Logger {
  return pino(options, new LineBuffer());
}

class LineBuffer {
  /** One write of many lines is cheap; one that is under way when the process ends could be lost. */
  readonly #output = destination({ sync: true });
  /** Bytes, because thousands of strings that are kept for a moment are dear to collect. */
  readonly #bytes = Buffer.allocUnsafe(BUFFER);
  #length = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor() {
    process.once("exit", () => this.#flush());
  }

  write(line: string): void {
    // A character is three bytes at most.
    const mostBytes = 3 * line.length;
    if (mostBytes > BUFFER - this.#length) this.#flush();
    if (mostBytes > BUFFER) return void this.#output.write(line);
    this.#length += this.#bytes.write(line, this.#length);
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS).unref();
  }

  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#length > 0) this.#output.write(this.#bytes.toString("utf8", 0, this.#length));
    this.#length = 0;
  }
}
