import type { TSchema } from "@sinclair/typebox";
import type { FastifyError, FastifyRequest, FastifySchema } from "fastify";
import { BODY_LIMIT } from "./connection-limits.js";
import { httpProblem } from "./http-problems.js";
import { ProblemError } from "./problem-error.js";
import { problemsByProperty, toSentence, type ValidationFailure } from "./validation.js";

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
