import { isUtf8 } from "node:buffer";

const NEWLINE = 10;

/** Splits bytes that arrive in parts into lines of UTF-8. A line that is too long, or not valid UTF-8, is skipped. */
export class LineSplitter {
  /** True once a line was too long. */
  hasSkippedTooLong = false;
  #parts: Buffer[] = [];
  #length = 0;

  constructor(
    private readonly maxBytes: number,
    private readonly onLine: (line: string) => void,
  ) {}

  add(bytes: Buffer): void {
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      this.#keep(bytes.subarray(start, end));
      this.#endLine();
      start = end + 1;
    }
    this.#keep(bytes.subarray(start));
  }

  #keep(part: Buffer): void {
    this.#length += part.length;
    if (this.#length <= this.maxBytes) this.#parts.push(part);
    else this.#parts = [];
  }

  #endLine(): void {
    const [only] = this.#parts;
    const line = only !== undefined && this.#parts.length === 1 ? only : Buffer.concat(this.#parts);
    const isTooLong = this.#length > this.maxBytes;
    this.#parts = [];
    this.#length = 0;
    if (isTooLong) this.hasSkippedTooLong = true;
    else if (isUtf8(line)) this.onLine(line.toString());
  }
}
