import type { TSchema } from "@sinclair/typebox";
import { type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { Value } from "@sinclair/typebox/value";

/** Lists the mistakes of a value under a schema, each with its JSON pointer. */
export function schemaProblems(schema: TSchema, value: unknown): string[] {
  const problems = new Map<string, string>();
  for (const error of Value.Errors(schema, value)) {
    // The first error of a setting is the cause: a missing setting is not an integer either.
    if (!problems.has(error.path)) problems.set(error.path, describe(error));
  }
  return [...problems].map(([at, problem]) => `${at || "/"}: ${problem}`);
}

/** Describes a mistake, followed by the setting's own description. */
function describe({ type, message, schema }: ValueError): string {
  // The schema of this mistake is that of the object around the property.
  if (type === ValueErrorType.ObjectAdditionalProperties) return message;
  const problem = describeProblem(type, message, schema);
  return schema.description === undefined ? problem : `${problem}. ${schema.description}`;
}

function describeProblem(type: ValueErrorType, message: string, schema: TSchema): string {
  const choices: unknown[] = (schema.anyOf ?? []).map(({ const: choice }: TSchema) => choice);
  const isChoice = choices.length > 0 && choices.every((choice) => typeof choice === "string");
  const expected = isChoice ? `one of ${choices.join(", ")}` : undefined;
  if (type === ValueErrorType.ObjectRequiredProperty) {
    const value = expected ?? (schema.const === undefined ? schema.type : JSON.stringify(schema.const));
    return value === undefined ? message : `${message} (${value})`;
  }
  return expected === undefined ? message.replace(/ to match '.*'$/, " in the required form") : `Expected ${expected}`;
}
