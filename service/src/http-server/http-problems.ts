import type { FastifyError } from "fastify";
import { MAX_HEADER_BYTES, TOO_SLOW } from "./connections.js";
import { ProblemError } from "./problem-error.js";

/** The largest body of a request in bytes, unless its route allows more. */
export const BODY_LIMIT = 16 * 1024;

/**
 * Turns an error into the problem that the caller sees. It reveals nothing of an unexpected error.
 *
 * @param bodyLimit The route's limit in bytes.
 */
export function toProblem(thrown: unknown, bodyLimit = BODY_LIMIT): ProblemError {
  if (thrown instanceof ProblemError) return thrown;
  const error: Partial<FastifyError> = thrown instanceof Error ? thrown : {};
  if (error.validation) return invalidBody(error.validation);
  switch (error.code) {
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return unsupportedMediaType();
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return bodyTooLarge(bodyLimit);
  }
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) {
    return new ProblemError(error.statusCode, "bad_request", {
      title: "The request cannot be read.",
      detail: error.message ?? "Check the request.",
    });
  }
  return new ProblemError(500, "internal_error", {
    title: "The service failed unexpectedly.",
    detail:
      "This is a bug, and its cause is in the service's log. Try again; if it happens again, tell the service's owner.",
  });
}

interface ValidationFailure {
  readonly instancePath: string;
  readonly message?: string;
}

/** The validator's messages, rewritten for people. */
const MESSAGES: Readonly<Record<string, string>> = {
  "Expected required property": "is missing",
  "Unexpected property": "is unknown; remove it",
  "Expected integer": "must be a whole number, without quotes",
  "Expected boolean": "must be true or false, without quotes",
  "Expected string": "must be a string, in quotes",
  "Expected object": "must be a JSON object",
};

/** Rewrites one of the validator's messages for people. */
const reworded = (message: string): string =>
  MESSAGES[message] ??
  message
    .replace(/^Expected (?:integer|number) to be less or equal to /, "must be at most ")
    .replace(/^Expected (?:integer|number) to be greater or equal to /, "must be at least ");

/**
 * Returns what is wrong with each property, for people. The first failure of a property is the cause: a missing property is
 * not an integer either.
 */
export function problemsByProperty(failures: readonly ValidationFailure[]): ReadonlyMap<string, string> {
  const problems = new Map<string, string>();
  for (const { instancePath, message = "is not valid" } of failures) {
    const property = shortened(instancePath.slice(1).replaceAll("~1", "/").replaceAll("~0", "~")) || "the body";
    if (!problems.has(property)) problems.set(property, reworded(message));
  }
  return problems;
}

/** Writes a problem as a sentence. A message of the validator that was not rewritten stands after a colon. */
export const toSentence = (property: string, problem: string): string =>
  `${property}${/^[A-Z]/.test(problem) ? ":" : ""} ${problem}.`;

function invalidBody(failures: readonly ValidationFailure[]): ProblemError {
  const errors = [...problemsByProperty(failures)].map(([property, problem]) => ({ property, problem }));
  return new ProblemError(400, "invalid_body", {
    title: "The request's body is not valid.",
    detail: errors.map(({ property, problem }) => toSentence(property, problem)).join(" "),
    extras: { errors },
  });
}

/** Shortens text from the caller before it is repeated. */
const shortened = (text: string) => (text.length > 64 ? `${text.slice(0, 64)}...` : text);

export const unsupportedMediaType = (title = "The content type is not JSON.") =>
  new ProblemError(415, "unsupported_media_type", {
    title,
    detail: 'Send JSON in UTF-8, uncompressed, with the header "content-type: application/json".',
  });

const bodyTooLarge = (limit: number) =>
  new ProblemError(413, "body_too_large", { title: "The body is too large.", detail: `Send at most ${limit} bytes.` });

export const methodNotAllowed = (method: string, allowed: readonly string[]) =>
  new ProblemError(405, "method_not_allowed", {
    title: `${method} is not allowed at this path.`,
    detail: `Use ${allowed.join(" or ")}.`,
    headers: { allow: allowed.join(", ") },
  });

export const noSuchPath = (path: string) =>
  new ProblemError(404, "no_such_path", {
    title: "There is nothing at this path.",
    detail:
      `${shortened(path)} is not served. Check the path, including the service's base path. The API's paths have no ` +
      "slash at the end.",
  });

export const tooManyRequests = (max: number, seconds: number, who = "A caller", unit = "per minute") =>
  new ProblemError(429, "too_many_requests", {
    title: "Too many requests.",
    detail: `${who} may make ${max} requests ${unit}. Try again in ${seconds} s.`,
    headers: { "retry-after": String(seconds) },
  });

/** The problem of a body that is JSON, but could be read in more than one way. */
export const ambiguousBody = (detail: string) =>
  new ProblemError(400, "invalid_body", { title: "The request's body is not valid.", detail });

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
