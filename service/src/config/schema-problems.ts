import type { TSchema } from "@sinclair/typebox";
import { type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { Value } from "@sinclair/typebox/value";
import { rewordSchemaError } from "./reword-schema-error.js";

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
function describe({ type, message, path, schema }: ValueError): string {
  const words = rewordSchemaError(message, path, schema);
  // The schema of this mistake is that of the object around the property.
  if (type === ValueErrorType.ObjectAdditionalProperties) return words;
  const problem = describeProblem(type, words, schema);
  return schema.description === undefined ? problem : `${problem}. ${schema.description}`;
}

function describeProblem(type: ValueErrorType, words: string, schema: TSchema): string {
  const choices: unknown[] = (schema.anyOf ?? []).map(({ const: choice }: TSchema) => choice);
  const isChoice = choices.length > 0 && choices.every((choice) => typeof choice === "string");
  const expected = isChoice ? `one of ${choices.join(", ")}` : undefined;
  if (type === ValueErrorType.ObjectRequiredProperty) {
    const value = expected ?? (schema.const === undefined ? schema.type : JSON.stringify(schema.const));
    return value === undefined ? words : `${words} (${value})`;
  }
  return expected === undefined ? words : `must be ${expected}`;
}
