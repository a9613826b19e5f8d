import { readFileSync } from "node:fs";
import type { Static, TSchema } from "@sinclair/typebox";
import type { ValueError } from "@sinclair/typebox/errors";
import { Value } from "@sinclair/typebox/value";
import { parse } from "lossless-json";

/**
 * A setting that its owner must mend; the message says which, and how. Nothing of a key's length, and nothing of a URL
 * but its host, is ever repeated in it: keys and tokens are pasted into the wrong places.
 */
export class ConfigError extends Error {
  override readonly name = "ConfigError";

  constructor(message: string) {
    super(
      message
        .replace(/\b(?:0x)?[0-9a-fA-F]{64}\b/g, "<64 hex digits>")
        // A path keeps one slash of two.
        .replace(/(https?:\/{1,2})(?:[^\s/"']*@)?([^\s/?#"']+)[/?#][^\s"']+/g, "$1$2/..."),
    );
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
  const problems = schemaProblems(schema, config);
  if (problems.length > 0)
    throw new ConfigError([`${path} is not valid:`, ...problems.map((line) => `  ${line}`)].join("\n"));
  return config as Static<T>;
}

/** What of a value is not as the schema has it: each place, and what is wrong there. */
export function schemaProblems(schema: TSchema, value: unknown): string[] {
  const problems = new Map<string, string>();
  for (const error of Value.Errors(schema, value)) {
    // The first is the cause: a setting that is missing is not an integer either.
    if (!problems.has(error.path)) problems.set(error.path, describe(error));
  }
  return [...problems].map(([at, problem]) => `${at || "/"}: ${problem}`);
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

/**
 * Reads a file of JSON.
 *
 * @throws ConfigError that repeats nothing of the file: another could have been named by mistake.
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

/** Where JSON is broken; what is told of it elsewhere repeats some of the text. */
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
