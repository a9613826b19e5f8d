import { readFileSync } from "node:fs";
import type { Static, TSchema } from "@sinclair/typebox";
import type { ValueError } from "@sinclair/typebox/errors";
import { Value } from "@sinclair/typebox/value";
import { parse } from "lossless-json";
import { ConfigError } from "./config-error.js";

/**
 * Reads a JSON configuration file. Missing settings get the schema's defaults. Nothing is coerced, and unknown settings
 * are errors.
 *
 * @throws ConfigError that lists every mistake.
 */
export function loadConfig<T extends TSchema>(path: string, schema: T): Static<T> {
  const json = parseJson(path);
  const config = Value.Default(schema, json);
  const problems = schemaProblems(schema, config);
  if (problems.length > 0)
    throw new ConfigError([`${path} is not valid:`, ...problems.map((line) => `  ${line}`)].join("\n"));
  return config as Static<T>;
}

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
    : message.replace(/ to match '.*'$/, " of another form");
  return schema.description === undefined ? problem : `${problem}. ${schema.description}`;
}

/**
 * Reads a file of JSON.
 *
 * @throws ConfigError that repeats nothing of the file, because it may be a secret file, named by mistake.
 */
export function parseJson(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new ConfigError(`${path} cannot be read: ${(error as NodeJS.ErrnoException).code}.`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new ConfigError(`${path} is not JSON: look at ${placeOfError(text)}.`);
  }
}

/** Locates a JSON syntax error. The parser's own message is not used: it repeats some of the text. */
function placeOfError(text: string): string {
  try {
    parse(text);
  } catch (error) {
    const position = /at position (\d+)/.exec((error as Error).message)?.[1];
    const lines = text.slice(0, Number(position ?? 0)).split("\n");
    return `line ${lines.length}, column ${(lines.at(-1) ?? "").length + 1}`;
  }
  return "its first line";
}
