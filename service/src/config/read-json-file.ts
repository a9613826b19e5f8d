import { readFileSync } from "node:fs";
import { parse } from "lossless-json";
import { ConfigError } from "./config-error.js";

/**
 * Reads a file of JSON.
 *
 * @throws ConfigError that repeats nothing of the file, because it may be a secret file, named by mistake.
 */
export function readJsonFile(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new ConfigError(
      `${path} cannot be read: ${(error as NodeJS.ErrnoException).code}. Check the path and its permissions.`,
    );
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
