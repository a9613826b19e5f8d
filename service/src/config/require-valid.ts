import type { Static, TSchema } from "@sinclair/typebox";
import { ConfigError } from "./config-error.js";
import { schemaProblems } from "./schema-problems.js";

/**
 * Returns a file's content as the type of its schema.
 *
 * @throws ConfigError that lists every mistake.
 */
export function requireValid<T extends TSchema>(path: string, schema: T, content: unknown): Static<T> {
  const problems = schemaProblems(schema, content);
  if (problems.length === 0) return content;
  throw new ConfigError([`${path} is not valid:`, ...problems.map((line) => `  ${line}`)].join("\n"));
}
