import type { TSchema } from "@sinclair/typebox";
import { rewordSchemaError } from "../config/reword-schema-error.js";

export interface ValidationFailure {
  readonly instancePath: string;
  readonly message?: string;
}

/**
 * Returns what is wrong with each property, for people. The first failure of a property is the cause: a missing
 * property is not an integer either.
 *
 * @param schema The schema of the part of the request that has them.
 */
export function problemsByProperty(
  failures: readonly ValidationFailure[],
  schema: TSchema | undefined,
): ReadonlyMap<string, string> {
  const problems = new Map<string, string>();
  for (const { instancePath, message = "is not valid" } of failures) {
    const property = shortened(instancePath.slice(1).replaceAll("~1", "/").replaceAll("~0", "~")) || "the body";
    const problem = patternProblem(message) ?? rewordSchemaError(message, instancePath, schema);
    if (!problems.has(property)) problems.set(property, problem);
  }
  return problems;
}

/** The validator does not tell the property's description, so its pattern has to say what is wrong. */
function patternProblem(message: string): string | null {
  const pattern = /^Expected string to match '(.*)'$/.exec(message)?.[1];
  return pattern === undefined ? null : `must match ${pattern}`;
}

/** Writes a problem as a sentence. A message of the validator that was not rewritten stands after a colon. */
export const toSentence = (property: string, problem: string): string =>
  `${property}${/^[A-Z]/.test(problem) ? ":" : ""} ${problem}.`;

/** Shortens text from the caller before an answer repeats it. */
export const shortened = (text: string) => (text.length > 64 ? `${text.slice(0, 64)}...` : text);
