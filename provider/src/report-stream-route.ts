import { Readable } from "node:stream";
import {
  NDJSON_CONTENT_TYPE,
  type ReportStreamLine,
  ReportStreamRequest,
} from "@dataset-oracle/protocol/http-schemas/reports";
import { type App, logFailure } from "@dataset-oracle/service/http-server/app";
import { toProblem } from "@dataset-oracle/service/http-server/error-to-problem";
import type { RateLimiter } from "@dataset-oracle/service/http-server/rate-limit";
import { RATE_HEADERS } from "@dataset-oracle/service/http-server/response-schemas";
import { traceOf } from "@dataset-oracle/service/http-server/trace";
import { Type } from "@sinclair/typebox";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { TracedCaller } from "./caller.js";
import { STREAM_PROBLEMS } from "./problem-responses.js";
import type { Reporter } from "./reporter.js";

const LINES = [
  { index: 1, status: 422, body: { title: "This provider does not serve the key.", status: 422, code: "unknown_key" } },
  { index: 0, status: 200, body: { network_id: 42, dataset: "0x...", key: "0x...", outcome: "OK" } },
]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join("");

const schema = {
  tags: ["reports"],
  operationId: "streamReports",
  summary: "Signs several reports, and sends each as soon as it is ready.",
  description:
    "Equivalent to one `POST /report` for each of the requests, each of which counts against the rate limits. No " +
    "report waits for another, so they can arrive in any order.",
  body: ReportStreamRequest,
  response: {
    200: {
      description: "The reports and problems.",
      headers: RATE_HEADERS,
      content: {
        [NDJSON_CONTENT_TYPE]: {
          schema: Type.Unsafe<Readable>({
            type: "string",
            description:
              "Lines of JSON, one for each request: its `index`, and the `status` and the `body` that `POST /report` " +
              "would answer with.",
          }),
          example: LINES,
        },
      },
    },
    ...STREAM_PROBLEMS,
  },
};

type Asked = ReportStreamRequest["requests"][number];

/** Enough for `MAX_STREAMED_REPORTS` requests with the longest keys and traces. */
const BODY_LIMIT = 64 * 1024;

interface ReportStreamParts {
  readonly reporter: Pick<Reporter, "report">;
  readonly callerOf: (request: FastifyRequest) => TracedCaller;
  /** Counts a request against the limit of all anonymous callers. */
  readonly limitAnonymous: RateLimiter;
}

/** Adds `POST /report/stream`. */
export function addReportStreamRoute(app: App, { reporter, callerOf, limitAnonymous }: ReportStreamParts): void {
  app.post("/report/stream", { schema, preParsing: limitAnonymous, bodyLimit: BODY_LIMIT }, async (request, reply) => {
    const caller = callerOf(request);
    const { requests } = request.body;
    // The first request was counted before the body was read. The others are counted one after another, because the
    // limiter gives wrong counts to concurrent calls.
    const refusals: unknown[] = [null];
    while (refusals.length < requests.length) {
      refusals.push(await refusalBy([app.countAgainstRateLimit, limitAnonymous], request, reply));
    }

    const answer = async ({ traceparent, ...asked }: Asked, index: number): Promise<ReportStreamLine> => {
      const trace = traceparent === undefined ? caller.trace : traceOf({ traceparent }, request.id);
      try {
        if (refusals[index]) throw refusals[index];
        return { index, status: 200, body: await reporter.report(asked, { ...caller, trace }) };
      } catch (error) {
        const problem = toProblem(error);
        // The metrics and the log name one problem of the stream; an unexpected error is not hidden by another problem.
        if (request.problemCode !== "internal_error") request.problemCode = problem.code;
        logFailure({ log: request.log, trace }, error, problem);
        return { index, status: problem.status, body: problem };
      }
    };
    const lines = new Readable({ read() {} });
    const write = async (asked: Asked, index: number) =>
      void lines.push(`${JSON.stringify(await answer(asked, index))}\n`);
    void Promise.all(requests.map(write)).then(() => lines.push(null));
    // Otherwise a reverse proxy may buffer the answer, and the slowest report would delay all others.
    return reply.type(NDJSON_CONTENT_TYPE).header("x-accel-buffering", "no").send(lines);
  });
}

/** Counts a request against limits. Returns the problem of the first that is exceeded; null if none is. */
async function refusalBy(
  limits: readonly RateLimiter[],
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  try {
    for (const limit of limits) await limit(request, reply);
    return null;
  } catch (problem) {
    return problem;
  }
}
