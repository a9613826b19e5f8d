import { parseRoundTripJson } from "@dataset-oracle/protocol/parse-round-trip-json";
import { ok } from "@dataset-oracle/protocol/result";
import { parse } from "lossless-json";
import { failed, type Reading } from "./source-failure.js";

/** A JSON number as it was written, for numbers that a float would round or write differently. */
export class NumberLiteral {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A JSON number with all of its digits: a float only if it prints exactly as written. */
type JsonNumber = number | NumberLiteral;

/** A JSON value whose numbers keep all of their digits. */
export type Json = null | boolean | string | JsonNumber | readonly Json[] | { readonly [name: string]: Json };

/**
 * The maximum depth of nested arrays and objects. Without this bound the size of the stack would decide, which differs
 * from machine to machine, and providers would disagree.
 */
const MAX_DEPTH = 256;

const [QUOTE, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x5b, 0x5d, 0x7b, 0x7d];

/** Parses JSON. It also fails with `not_json` when an object has the same member twice, with different values. */
export function parseExactJson(text: string): Reading<Json> {
  if (isTooDeep(text)) return failed("not_json", `has arrays and objects nested more than ${MAX_DEPTH} deep`);
  // Faster, and most sources write JSON like this.
  const json = parseRoundTripJson(text) as Json | undefined;
  if (json !== undefined) return ok(json);
  try {
    return ok(parse(text, null, { parseNumber: (digits) => new NumberLiteral(digits) }) as Json);
  } catch (error) {
    return failed("not_json", `is not JSON: ${(error as Error).message.slice(0, 200)}`);
  }
}

/** Counts brackets outside of strings. For text that is not JSON the result does not matter: parsing it fails. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; ++at) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) at = endOfString(text, at);
    else if (character === OPEN_ARRAY || character === OPEN_OBJECT) depth += 1;
    else if (character === CLOSE_ARRAY || character === CLOSE_OBJECT) depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

/** Returns the place of the quote that ends a string, or the text's length. */
function endOfString(text: string, start: number): number {
  let end = start;
  let backslashes: number;
  do {
    end = text.indexOf('"', end + 1);
    if (end === -1) return text.length;
    backslashes = 0;
    while (text[end - 1 - backslashes] === "\\") backslashes += 1;
  } while (backslashes % 2 === 1);
  return end;
}

export const isNumber = (node: Json | undefined): node is JsonNumber =>
  typeof node === "number" || node instanceof NumberLiteral;

/** Returns a number's digits as they were written. */
export const digitsOf = (number: JsonNumber): string =>
  typeof number === "number" ? JSON.stringify(number) : number.text;
