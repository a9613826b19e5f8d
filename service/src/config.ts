import { readFileSync } from "node:fs";
import type { Static, TSchema } from "@sinclair/typebox";
import type { ValueError } from "@sinclair/typebox/errors";
import { Value } from "@sinclair/typebox/value";

/**
 * A setting that its owner must mend; the message says which, and how. Nothing of a key's length is ever repeated in
 * it: keys are pasted into the wrong places.
 */
export class ConfigError extends Error {
  override readonly name = "ConfigError";

  constructor(message: string) {
    super(message.replace(/\b(?:0x)?[0-9a-fA-F]{64}\b/g, "<64 hex digits>"));
  }
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
  const problems = new Map<string, string>();
  for (const error of Value.Errors(schema, config)) {
    // The first is the cause: a setting that is missing is not an integer either.
    if (!problems.has(error.path)) problems.set(error.path, describe(error));
  }
  if (problems.size > 0) {
    const lines = [...problems].map(([at, problem]) => `  ${at || "/"}: ${problem}`);
    throw new ConfigError([`${path} is not valid:`, ...lines].join("\n"));
  }
  return config as Static<T>;
}

/** What is wrong with a setting, and what it is for. */
function describe({ message, schema }: ValueError): string {
  const choices: unknown[] = (schema.anyOf ?? []).map(({ const: choice }: TSchema) => choice);
  const isChoice = choices.length > 0 && choices.every((choice) => typeof choice === "string");
  const problem = isChoice
    ? `Expected one of ${choices.join(", ")}`
    : message.replace(/ to match '.*'$/, " of another form");
  return schema.description === undefined ? problem : `${problem}. ${schema.description}`;
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
