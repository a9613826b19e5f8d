import type { FastifyError } from "fastify";
import { BODY_LIMIT } from "./connection-limits.js";
import { bodyTooLarge, unsupportedMediaType } from "./http-problems.js";
import { ProblemError } from "./problem-error.js";
import { problemsByProperty, toSentence, type ValidationFailure } from "./validation-messages.js";

/**
 * Turns an error into the problem that the caller sees. It reveals nothing of an unexpected error.
 *
 * @param bodyLimit The route's limit in bytes.
 */
export function toProblem(thrown: unknown, bodyLimit = BODY_LIMIT): ProblemError {
  if (thrown instanceof ProblemError) return thrown;
  const error: Partial<FastifyError> = thrown instanceof Error ? thrown : {};
  if (error.validation) return invalidPart(error.validationContext, error.validation);
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

/** The parts of a request that are validated, each with the code and the title of its problem. */
const PARTS: Readonly<Record<string, readonly [code: string, title: string]>> = {
  body: ["invalid_body", "The request's body is not valid."],
  querystring: ["invalid_query", "The request's query is not valid."],
  params: ["invalid_path", "The request's path is not valid."],
  headers: ["bad_request", "The request's headers are not valid."],
};

function invalidPart(part = "body", failures: readonly ValidationFailure[]): ProblemError {
  const errors = [...problemsByProperty(failures)].map(([property, problem]) => ({ property, problem }));
  const [code, title] = PARTS[part] ?? ["bad_request", "The request is not valid."];
  return new ProblemError(400, code, {
    title,
    detail: errors.map(({ property, problem }) => toSentence(property, problem)).join(" "),
    extras: { errors },
  });
}
