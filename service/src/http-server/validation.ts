import { type TArray, type TSchema, TypeGuard } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { Value } from "@sinclair/typebox/value";
import type { FastifySchemaCompiler } from "fastify";
import type { FastifySchemaValidationError } from "fastify/types/schema.js";
import { rewordSchemaError } from "../config/reword-schema-error.js";

/** A whole number in decimal digits: at most 16 of them, without leading zeros. */
const INTEGER = /^(?:0|[1-9][0-9]{0,15})$/;

/** The maximum number of failures that are found: a body of 100 KB can have tens of thousands, and each takes time. */
const MAX_FAILURES = 16;

/**
 * Compiles the validator of a part of a request. It is not the type provider's own, which finds every failure, reads
 * "1e1" in a path or query as 10 and "1.5" as 1, and compares the items of a list by hashing them with BigInts, recursively: that
 * takes tens of milliseconds for long ones, and overflows the stack for deep ones.
 */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const properties = Object.entries(TypeGuard.IsObject(schema) ? schema.properties : {});
  const unique = properties.filter((each): each is [string, TArray] => each[1].uniqueItems === true);
  const unhashed = unique.map(([name, list]) => [name, { ...list, uniqueItems: false }]);
  const checked: TSchema =
    unique.length === 0 ? schema : { ...schema, properties: { ...schema.properties, ...Object.fromEntries(unhashed) } };
  const compiled = TypeCompiler.Compile(checked);
  const integers = properties.flatMap(([name, each]) =>
    httpPart !== "body" && TypeGuard.IsInteger(each) ? [name] : [],
  );
  return (given) => {
    const value = httpPart === "body" ? given : Value.Convert(checked, withoutOtherNotations(given, integers));
    if (!compiled.Check(value)) return { error: firstFailures(compiled.Errors(value)) };
    const repeating = unique.filter(([name]) => repeats((value as Record<string, unknown>)[name]));
    if (repeating.length === 0) return { value };
    return { error: repeating.map(([name]) => failure("Expected array elements to be unique", `/${name}`)) };
  };
};

function withoutOtherNotations(given: Record<string, unknown>, integers: readonly string[]): Record<string, unknown> {
  const wrong = integers.filter((name) => given[name] !== undefined && !INTEGER.test(String(given[name])));
  return { ...given, ...Object.fromEntries(wrong.map((name) => [name, Number.NaN])) };
}

/** Fastify's form of a failure; only these two of its members are used. */
const failure = (message: string, instancePath: string): FastifySchemaValidationError => ({
  message,
  instancePath,
  keyword: "",
  schemaPath: "",
  params: {},
});

function firstFailures(errors: Iterable<{ readonly message: string; readonly path: string }>) {
  const failures: FastifySchemaValidationError[] = [];
  for (const { message, path } of errors) {
    failures.push(failure(message, path));
    if (failures.length === MAX_FAILURES) break;
  }
  return failures;
}

/** Tells whether a list of texts has one twice. */
const repeats = (items: unknown): boolean => Array.isArray(items) && new Set(items).size < items.length;

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
