import type { TSchema } from "@sinclair/typebox";
import type { ValueError } from "@sinclair/typebox/errors";
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
function describe({ message, schema }: ValueError): string {
  const choices: unknown[] = (schema.anyOf ?? []).map(({ const: choice }: TSchema) => choice);
  const isChoice = choices.length > 0 && choices.every((choice) => typeof choice === "string");
  const problem = isChoice
    ? `Expected one of ${choices.join(", ")}`
    : message.replace(/ to match '.*'$/, " in the required form");
  return schema.description === undefined ? problem : `${problem}. ${schema.description}`;
}
