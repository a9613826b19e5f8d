import { HTTP_PROBLEMS } from "@dataset-oracle/protocol/http-problems";
import type { TSchema } from "@sinclair/typebox";
import type { FastifyError, FastifyRequest, FastifySchema } from "fastify";
import { BODY_LIMIT, MAX_HEADER_BYTES, TOO_SLOW } from "./connection-limits.js";
import { ProblemError, problemMaker } from "./problem-error.js";
import { problemsByProperty, shortened, toSentence, type ValidationFailure } from "./validation.js";

export const httpProblem = problemMaker(HTTP_PROBLEMS);

export const methodNotAllowed = (method: string, allowed: readonly string[]) =>
  httpProblem(
    "method_not_allowed",
    { method, allowed: allowed.join(" or ") },
    { headers: { allow: allowed.join(", ") } },
  );

export const noSuchPath = (path: string) => httpProblem("no_such_path", { path: shortened(path) });

export const tooManyRequests = (max: number, seconds: number, who = "A caller") =>
  httpProblem("too_many_requests", { who, max, seconds }, { headers: { "retry-after": String(seconds) } });

export const tooManyBytes = (max: number, seconds: number) =>
  httpProblem(
    "too_many_requests",
    { who: "A caller", max, seconds },
    {
      detail: `The bodies of a caller's requests may have ${max} bytes per minute. Try again in ${seconds} s.`,
      headers: { "retry-after": String(seconds) },
    },
  );

export const tooManyChunks = (max: number) =>
  httpProblem(
    "bad_request",
    {},
    {
      title: "The body comes in too many chunks.",
      detail: `Send it in at most ${max} chunks, or with a Content-Length.`,
    },
  );

/** The problem of a body that is JSON, but could be read in more than one way. */
export const ambiguousBody = (detail: string) =>
  httpProblem("invalid_body", {}, { detail, extras: { errors: [{ property: "the body", problem: detail }] } });

/** @param code The code of the error of Node's HTTP parser. */
export function unreadable(code: string | undefined): ProblemError {
  const problems: Record<string, [status: number, title: string, detail: string]> = {
    HPE_HEADER_OVERFLOW: [
      431,
      "The request's headers are too large.",
      `Send at most ${MAX_HEADER_BYTES} bytes, including the request line.`,
    ],
    ERR_HTTP_REQUEST_TIMEOUT: [408, "The request took too long.", TOO_SLOW],
  };
  const [status, title, detail] = problems[code ?? ""] ?? [
    400,
    "The request is not valid HTTP.",
    "Send a request that follows HTTP/1.1.",
  ];
  return new ProblemError(status, "bad_request", { title, detail });
}

/** Finds the problem of an error of the service's own; null for one that is not expected. */
export type ProblemOf = (error: unknown) => ProblemError | null;

/**
 * Turns an error into the problem that the caller sees. It reveals nothing of an unexpected error.
 *
 * @param route The route of the request, if it has one.
 */
export function toProblem(thrown: unknown, problemOf: ProblemOf, route?: FastifyRequest["routeOptions"]): ProblemError {
  if (thrown instanceof ProblemError) return thrown;
  const error: Partial<FastifyError> = thrown instanceof Error ? thrown : {};
  if (error.validation) return invalidPart(error.validationContext, error.validation, route?.schema);
  switch (error.code) {
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return httpProblem("unsupported_media_type", {});
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return httpProblem("body_too_large", { limit: route?.bodyLimit ?? BODY_LIMIT });
  }
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) {
    const { title } = httpProblem("bad_request", {});
    return new ProblemError(error.statusCode, "bad_request", { title, detail: error.message ?? "Check the request." });
  }
  return problemOf(thrown) ?? httpProblem("internal_error", {});
}

/** The codes of the problems of a request's parts that are validated. */
const CODES = {
  body: "invalid_body",
  querystring: "invalid_query",
  params: "invalid_path",
  headers: "bad_request",
} as const;

function invalidPart(
  part: keyof typeof CODES = "body",
  failures: readonly ValidationFailure[],
  schemas: FastifySchema = {},
): ProblemError {
  const problems = problemsByProperty(failures, schemas[part] as TSchema | undefined);
  const errors = [...problems].map(([property, problem]) => ({ property, problem }));
  const detail = errors.map((each) => toSentence(each.property, each.problem)).join(" ");
  return httpProblem(CODES[part], {}, { detail, extras: { errors } });
}
