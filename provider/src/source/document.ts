import { parse } from "lossless-json";
import { failed, type Reading, read } from "./result.js";

/** A number of a JSON text as it was written: a float would lose digits. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A JSON value whose numbers keep all of their digits. */
export type Json = null | boolean | string | JsonNumber | readonly Json[] | { readonly [name: string]: Json };

/** @returns The document, or `not_json`: also for a member that is there twice with different values. */
export function parseDocument(text: string): Reading<Json> {
  try {
    return read(parse(text, null, { parseNumber: (digits) => new JsonNumber(digits) }) as Json);
  } catch (error) {
    return failed("not_json", `is not JSON: ${(error as Error).message.slice(0, 200)}`);
  }
}
