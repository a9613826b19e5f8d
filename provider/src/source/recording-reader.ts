import type { Answer, AnswerText } from "./judge-answer.js";
import type { Reading } from "./source-failure.js";
import type { SourceReader } from "./source-reader.js";
import { type FileRequest, requestId, type SourceRequest } from "./source-request.js";

/** Reads sources for one value: makes each request once, however often it is needed, and records the answers. */
export class RecordingReader {
  /** By `requestId`. */
  readonly answers = new Map<
    string,
    { readonly request: SourceRequest; readonly reading: Promise<Reading<AnswerText>> }
  >();

  constructor(private readonly reader: Pick<SourceReader, "read">) {}

  read(request: FileRequest, mayUseReserve: boolean): Promise<Reading<Answer>>;
  read(request: SourceRequest, mayUseReserve: boolean): Promise<Reading<AnswerText>>;
  read(request: SourceRequest, mayUseReserve: boolean): Promise<Reading<AnswerText>> {
    const id = requestId(request);
    const known = this.answers.get(id);
    if (known !== undefined) return known.reading;
    const reading = this.reader.read(request, mayUseReserve);
    this.answers.set(id, { request, reading });
    return reading;
  }
}
