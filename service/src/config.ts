import { readFileSync } from "node:fs";
import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

/** A setting that its owner must mend; the message says which, and how. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/**
 * Reads a JSON configuration file. Settings left out get the schema's defaults; nothing is coerced, and a setting that
 * the schema does not know is refused.
 *
 * @throws ConfigError that names every setting to mend.
 */
export function loadConfig<T extends TSchema>(path: string, schema: T): Static<T> {
  const json = parseJson(path);
  const config = Value.Default(schema, json);
  const errors = [...Value.Errors(schema, config)];
  if (errors.length > 0) {
    const lines = errors.map(({ path: at, message }) => `  ${at || "/"}: ${message}`);
    throw new ConfigError([`${path} is not valid:`, ...lines].join("\n"));
  }
  return config as Static<T>;
}

function parseJson(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new ConfigError(`${path} cannot be read: ${(error as NodeJS.ErrnoException).code}.`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ConfigError(`${path} is not JSON: ${(error as Error).message}`);
  }
}
