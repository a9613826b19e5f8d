import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { readJsonFile } from "./read-json-file.js";
import { requireValid } from "./require-valid.js";

/**
 * Reads a JSON configuration file. Missing settings get the schema's defaults. Nothing is coerced, and unknown settings
 * are errors if the schema forbids additional properties.
 *
 * @throws ConfigError that lists every mistake.
 */
export function loadConfig<T extends TSchema>(path: string, schema: T): Static<T> {
  return requireValid(path, schema, Value.Default(schema, readJsonFile(path)));
}
