import { ok } from "@dataset-oracle/protocol/result";
import { parse } from "lossless-json";
import { failed, type Reading } from "./reading.js";

/** A JSON number as it was written, for numbers that a float would round or write differently. */
export class WrittenNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A JSON number with all of its digits: a float only where that prints exactly as it was written. */
export type JsonNumber = number | WrittenNumber;

/** A JSON value whose numbers keep all of their digits. */
export type Json = null | boolean | string | JsonNumber | readonly Json[] | { readonly [name: string]: Json };

/** Parses JSON. It fails with `not_json` also when an object has a member twice, with different values. */
export function parseDocument(text: string): Reading<Json> {
  const plain = parsePlain(text);
  if (plain !== undefined) return ok(plain);
  try {
    return ok(parse(text, null, { parseNumber: (digits) => new WrittenNumber(digits) }) as Json);
  } catch (error) {
    return failed("not_json", `is not JSON: ${(error as Error).message.slice(0, 200)}`);
  }
}

/**
 * Parses with JSON.parse, several times as fast as lossless-json, and returns undefined unless the value prints as the
 * same text again: then no member is there twice and no number lost a digit. Most sources write such JSON.
 */
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

/** Returns a number's digits as they were written. */
export const digitsOf = (number: JsonNumber): string =>
  typeof number === "number" ? JSON.stringify(number) : number.text;
