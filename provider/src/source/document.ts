import { parse } from "lossless-json";
import { failed, type Reading, read } from "./reading.js";

/** A number of a JSON text as it was written, whose digits a float would lose or write in another way. */
export class WrittenNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A JSON number with all of its digits. As a float it is what was written, to the letter. */
export type JsonNumber = number | WrittenNumber;

/** A JSON value whose numbers keep all of their digits. */
export type Json = null | boolean | string | JsonNumber | readonly Json[] | { readonly [name: string]: Json };

/** @returns The document, or `not_json`: also for a member that is there twice with different values. */
export function parseDocument(text: string): Reading<Json> {
  const plain = parsePlain(text);
  if (plain !== undefined) return read(plain);
  try {
    return read(parse(text, null, { parseNumber: (digits) => new WrittenNumber(digits) }) as Json);
  } catch (error) {
    return failed("not_json", `is not JSON: ${(error as Error).message.slice(0, 200)}`);
  }
}

/** What comes out as it went in has no member twice, and no number that is not its float. Most services write so. */
function parsePlain(text: string): Json | undefined {
  try {
    const json: Json = JSON.parse(text);
    return JSON.stringify(json) === text ? json : undefined;
  } catch {
    return undefined;
  }
}

export const isNumber = (node: Json | undefined): node is JsonNumber =>
  typeof node === "number" || node instanceof WrittenNumber;

/** A number's digits as they were written. */
export const digitsOf = (number: JsonNumber): string =>
  typeof number === "number" ? JSON.stringify(number) : number.text;
