import { PassThrough, type Readable } from "node:stream";
import type { ProblemError } from "@dataset-oracle/service/http-server/problem";

/**
 * Streams a request's progress as server-sent events with JSON data. The last event is `answer` or `problem`, with the body
 * that an answer without a stream would have.
 *
 * @param work It goes on when the caller stops reading, because others may wait for the same.
 */
export function eventStream<Progress extends { readonly event: string }>(
  work: (listener: (step: Progress) => void) => Promise<object>,
  toProblem: (error: unknown) => ProblemError,
): Readable {
  const stream = new PassThrough();
  const write = (event: string, data: object) => {
    if (!stream.destroyed) stream.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  work(({ event, ...data }) => write(event, data))
    .then(
      (data) => write("answer", data),
      (error: unknown) => write("problem", toProblem(error)),
    )
    .finally(() => stream.end());
  return stream;
}

/** Reports whether a caller asks for an event stream. */
export function acceptsEventStream(accept: string | undefined): boolean {
  return accept !== undefined && /(?:^|,)\s*text\/event-stream\s*(?:[;,]|$)/i.test(accept);
}
