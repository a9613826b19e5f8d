import type { Rounding } from "@dataset-oracle/protocol/request-spec";
import { ok } from "@dataset-oracle/protocol/result";
import { bytesToHex, keccak256, stringToBytes } from "viem";
import { scaleDecimal } from "./decimal-text.js";
import { digitsOf, isNumber, type Json } from "./exact-json.js";
import { type FailureCode, failed, type Reading } from "./source-failure.js";

const MAX_DESCRIBED = 64;

/** Describes a node briefly, for people. */
function describeNode(node: Json): string {
  if (isNumber(node)) return digitsOf(node).slice(0, MAX_DESCRIBED);
  if (typeof node === "object" && node !== null) return Array.isArray(node) ? "an array" : "an object";
  return JSON.stringify(typeof node === "string" ? node.slice(0, MAX_DESCRIBED) : node).slice(0, MAX_DESCRIBED);
}

/** The rule that makes a value of 32 bytes from a node of an answer. */
export type ValueShape =
  | {
      readonly type: "uint";
      readonly decimals: number;
      readonly rounding: Rounding;
      readonly format?: "iso8601" | undefined;
    }
  | { readonly type: "bool" | "bytes32" }
  | { readonly type: "string"; readonly hash: boolean };

const WORD = 32;

/** Returns the value's 32 bytes as a big-endian number, or why the node is not of the type. */
export function nodeToValue(node: Json, shape: ValueShape): Reading<bigint> {
  const isNot = (code: FailureCode, what: string) => failed(code, `${describeNode(node)} is not ${what}`);
  switch (shape.type) {
    case "uint": {
      const isDate = shape.format === "iso8601";
      const text = isDate ? secondsOf(node) : isNumber(node) ? digitsOf(node) : node;
      if (typeof text !== "string")
        return isDate
          ? isNot("not_a_date", "ISO 8601 with a time and an offset")
          : isNot("not_a_number", "a number or a string");
      return scaleDecimal(text, shape.decimals, shape.rounding);
    }
    case "bool":
      return typeof node === "boolean" ? ok(node ? 1n : 0n) : isNot("not_a_bool", "a boolean");
    case "bytes32":
      return typeof node === "string" && /^0x[0-9a-fA-F]{64}$/.test(node)
        ? ok(BigInt(node))
        : isNot("not_bytes32", "0x and 64 hex digits in a string");
    case "string":
      return typeof node === "string" ? stringValue(node, shape.hash) : isNot("not_a_string", "a string");
  }
}

const DATE = /^(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?)(\.\d{1,9})?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/** Returns the seconds from 1970 to a date in ISO 8601 with an offset, as a decimal; null for anything else. */
function secondsOf(node: Json): string | null {
  const [, local, fraction = "", sign, hours, minutes] = (typeof node === "string" && DATE.exec(node)) || [];
  if (local === undefined || (fraction !== "" && local.length < 19)) return null;
  const time = Date.parse(`${local}Z`);
  // Date.parse takes February 30 for March 2.
  if (Number.isNaN(time) || !new Date(time).toISOString().startsWith(local)) return null;
  const offset = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * (sign === "-" ? -60 : 60);
  return `${time / 1_000 - offset}${fraction}`;
}

function stringValue(text: string, hash: boolean): Reading<bigint> {
  if (/\p{Cs}/u.test(text))
    return failed("not_a_string", "contains half of a surrogate pair, which UTF-8 cannot encode");
  const bytes = stringToBytes(text);
  if (hash) return ok(BigInt(keccak256(bytes)));
  // Zero bytes fill up a shorter text, so zero bytes of its own would be ambiguous.
  if (text.includes("\0")) return failed("not_a_string", "contains a zero byte");
  if (bytes.length > WORD) return failed("string_too_long", `has ${bytes.length} bytes, more than ${WORD}`);
  const word = new Uint8Array(WORD);
  word.set(bytes);
  return ok(BigInt(bytesToHex(word)));
}
