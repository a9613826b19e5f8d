import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { ConfigError } from "./config-error.js";
import { readJsonFile } from "./read-json-file.js";
import { schemaProblems } from "./schema-problems.js";

/**
 * Reads a JSON configuration file. Missing settings get the schema's defaults. Nothing is coerced, and unknown settings
 * are errors.
 *
 * @throws ConfigError that lists every mistake.
 */
export function loadConfig<T extends TSchema>(path: string, schema: T): Static<T> {
  const json = readJsonFile(path);
  const config = Value.Default(schema, json);
  const problems = schemaProblems(schema, config);
  if (problems.length > 0)
    throw new ConfigError([`${path} is not valid:`, ...problems.map((line) => `  ${line}`)].join("\n"));
  return config as Static<T>;
}
