import { parseRoundTripJson } from "@dataset-oracle/protocol/parse-round-trip-json";
import { ok } from "@dataset-oracle/protocol/result";
import { LosslessNumber, parse } from "lossless-json";
import { failed, type Reading } from "./source-failure.js";

/** A JSON number with all of its digits: a float only if it prints exactly as written. */
type JsonNumber = number | LosslessNumber;

/** A JSON value whose numbers keep all of their digits. */
export type Json = null | boolean | string | JsonNumber | readonly Json[] | { readonly [name: string]: Json };

/**
 * The maximum depth of nested arrays and objects. Without this bound the size of the stack would decide, which differs
 * from machine to machine, and providers would disagree.
 */
const MAX_DEPTH = 256;

/** Parses JSON. It also fails with `not_json` when an object has the same member twice, with different values. */
export function parseExactJson(text: string): Reading<Json> {
  let json: Json;
  try {
    // The first is faster, and most sources write JSON like this.
    json = (parseRoundTripJson(text) ?? parse(text)) as Json;
  } catch (error) {
    return failed("not_json", `is not JSON: ${(error as Error).message.slice(0, 200)}`);
  }
  if (isTooDeep(json)) return failed("not_json", `has arrays and objects nested more than ${MAX_DEPTH} deep`);
  return ok(json);
}

function isTooDeep(node: Json, depth = 0): boolean {
  if (typeof node !== "object" || node === null || isNumber(node)) return false;
  return depth === MAX_DEPTH || Object.values(node).some((child) => isTooDeep(child, depth + 1));
}

export const isNumber = (node: Json | undefined): node is JsonNumber =>
  typeof node === "number" || node instanceof LosslessNumber;

/** Returns a number's digits as they were written. */
export const digitsOf = (number: JsonNumber): string =>
  typeof number === "number" ? JSON.stringify(number) : number.value;
