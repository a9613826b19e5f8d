import { PassThrough, type Readable } from "node:stream";
import { type TSchema, Type } from "@sinclair/typebox";
import type { FastifyReply, FastifyRequest } from "fastify";
import { RATE_HEADERS } from "./openapi.js";

/**
 * Describes an answer that is JSON or, for callers who ask for it, a stream of events.
 *
 * @param events Lists the events before the last one.
 */
export const streamedAnswer = <Answer extends TSchema>(
  description: string,
  schema: Answer,
  events: string,
  example: string,
) => ({
  description,
  headers: RATE_HEADERS,
  content: {
    "application/json": { schema },
    "text/event-stream": {
      schema: Type.Unsafe<Readable>({
        type: "string",
        description:
          `Server-sent events with JSON data: ${events}. The last event is \`answer\`, with the JSON answer, or ` +
          "`problem`, with a problem's body and, as `retry_after`, the seconds of the header `Retry-After`.",
      }),
      example,
    },
  },
});

/** How often a comment is sent, because proxies end connections on which nothing moves. */
const COMMENT_MS = 5_000;

/**
 * Answers with a stream: the request's progress as server-sent events with JSON data. The last event is `answer` or
 * `problem`, with the body that an answer without a stream would have, and its header for when to try again.
 *
 * @param work Continues when the caller stops reading, because others may be waiting for the same result.
 */
export function eventStream<Progress extends { readonly event: string }>(
  request: FastifyRequest,
  reply: FastifyReply,
  work: (listener: (step: Progress) => void) => Promise<object>,
): Readable {
  // nginx would keep the events until there are many.
  reply.headers({ "cache-control": "no-store", "x-accel-buffering": "no" }).type("text/event-stream");
  const stream = new PassThrough();
  const write = (event: string, data: object) => {
    if (!stream.destroyed) stream.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  const commenting = setInterval(() => stream.write(":\n\n"), COMMENT_MS);
  stream.once("close", () => clearInterval(commenting));
  work(({ event, ...data }) => write(event, data))
    .then(
      (data) => write("answer", data),
      (error: unknown) => {
        const problem = request.toProblem(error);
        const seconds = problem.headers["retry-after"];
        write("problem", { ...problem.toJSON(), ...(seconds !== undefined && { retry_after: Number(seconds) }) });
      },
    )
    .finally(() => {
      clearInterval(commenting);
      stream.end();
    });
  return stream;
}
