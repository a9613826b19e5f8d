import { readFileSync } from "node:fs";
import { parseRoundTripJson } from "@dataset-oracle/protocol/parse-round-trip-json";
import { parse } from "lossless-json";
import { ConfigError, unreadable } from "./config-error.js";

/**
 * Reads a file of JSON in UTF-8, in which no object has a property twice with different values: people would read one
 * of them, and JSON.parse the other.
 *
 * @throws ConfigError that repeats nothing of the file, because it may be a secret file, named by mistake.
 */
export function readJsonFile(path: string): unknown {
  const text = readText(path);
  if (text.trim() === "") throw new ConfigError(`${path} is empty. Write a JSON object into it.`);
  // Large files were written by a program, and are parsed fast.
  const json = parseRoundTripJson(text.trim());
  if (json !== undefined) return json;
  try {
    return parse(text, null, { parseNumber: Number });
  } catch (error) {
    const { message } = error as Error;
    const place = placeOfError(text, message);
    if (message.startsWith("Duplicate key"))
      throw new ConfigError(`${path} has a property twice in one object: look at ${place}. Keep one of the two.`);
    throw new ConfigError(`${path} is not JSON: look at ${place}.`);
  }
}

/** @throws ConfigError */
function readText(path: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw unreadable(
      `${path} cannot be read: ${(error as NodeJS.ErrnoException).code}. Check the path and its permissions.`,
      error,
    );
  }
  try {
    // This skips a byte order mark, which some editors write.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const isUtf16 = ["fffe", "feff"].includes(bytes.toString("hex", 0, 2));
    throw new ConfigError(`${path} is ${isUtf16 ? "in UTF-16" : "not in UTF-8"}. Save it in UTF-8.`);
  }
}

/** Locates an error of the parser, whose message is not used otherwise: it repeats some of the text. */
function placeOfError(text: string, message: string): string {
  const position = /at position (\d+)$/.exec(message)?.[1];
  const lines = text.slice(0, Number(position ?? 0)).split("\n");
  return `line ${lines.length}, column ${(lines.at(-1) ?? "").length + 1}`;
}
