import type { Answer } from "../source/answer.js";
import { requestId, type SourceReader, type SourceRequest } from "../source/reader.js";
import type { Reading } from "../source/reading.js";

/** For one reading: asks each url once, however many prices and rates need it, and remembers what it was answered. */
export class RecordingReader {
  readonly #reader: Pick<SourceReader, "read">;
  /** By `requestId`. */
  readonly answers = new Map<string, { readonly request: SourceRequest; readonly reading: Promise<Reading<Answer>> }>();

  constructor(reader: Pick<SourceReader, "read">) {
    this.#reader = reader;
  }

  read(request: SourceRequest, isReserved: boolean): Promise<Reading<Answer>> {
    const id = requestId(request);
    const before = this.answers.get(id);
    if (before !== undefined) return before.reading;
    const reading = this.#reader.read(request, isReserved);
    this.answers.set(id, { request, reading });
    return reading;
  }
}
