import type { TSchema } from "@sinclair/typebox";
import type { FastifyError, FastifyRequest, FastifySchema } from "fastify";
import { BODY_LIMIT, MAX_HEADER_BYTES, TOO_SLOW } from "./connection-limits.js";
import { ProblemError, problemMaker } from "./problem-error.js";
import { problemsByProperty, shortened, toSentence, type ValidationFailure } from "./validation.js";

/** The problems that any service of ours can answer, by their codes. */
const HTTP_PROBLEMS = {
  bad_request: {
    status: [400, 408, 431],
    title: "The request cannot be read.",
    detail: "Send a complete HTTP/1.1 request whose headers fit.",
  },
  invalid_body: {
    status: [400],
    title: "The request's body is not valid.",
    detail: "Correct each property that `errors` names.",
  },
  invalid_query: {
    status: [400],
    title: "The request's query is not valid.",
    detail: "Correct each parameter that `errors` names.",
  },
  invalid_path: {
    status: [400],
    title: "The request's path is not valid.",
    detail: "Correct each part of the path that `errors` names.",
  },
  no_such_path: {
    status: [404],
    title: "There is nothing at this path.",
    detail: "{path} is not served. Check it, including the service's base path.",
  },
  method_not_allowed: {
    status: [405],
    title: "{method} is not allowed at this path.",
    detail: "Use {allowed}.",
  },
  body_too_large: {
    status: [413],
    title: "The body is too large.",
    detail: "Send at most {limit} bytes.",
  },
  unsupported_media_type: {
    status: [415],
    title: "The content type is not JSON.",
    detail: 'Send JSON in UTF-8, uncompressed, with the header "content-type: application/json".',
  },
  too_many_requests: {
    status: [429],
    title: "Too many requests.",
    detail: "{who} may make {max} requests per minute. Try again in {seconds} s.",
  },
  internal_error: {
    status: [500],
    title: "The service failed unexpectedly.",
    detail:
      "This is a bug, and its cause is in the service's log. Try again; if it happens again, tell the service's owner.",
  },
} as const;

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
