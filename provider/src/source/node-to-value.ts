import type { Rounding } from "@dataset-oracle/protocol/request-spec";
import { ok } from "@dataset-oracle/protocol/result";
import { bytesToHex, keccak256, stringToBytes } from "viem";
import { scaleDecimal } from "./decimal-text.js";
import { digitsOf, isNumber, type Json } from "./exact-json.js";
import { failed, type Reading } from "./source-failure.js";

/** Describes a node briefly, for people. */
function describeNode(node: Json, maxLength = 64): string {
  if (isNumber(node)) return digitsOf(node).slice(0, maxLength);
  if (typeof node === "object" && node !== null) return Array.isArray(node) ? "an array" : "an object";
  const text = typeof node === "string" ? node.slice(0, maxLength) : node;
  return JSON.stringify(text).slice(0, maxLength);
}

/** The rule that makes a value of 32 bytes from a node of an answer. */
export type ValueShape =
  | { readonly type: "uint"; readonly decimals: number; readonly rounding: Rounding }
  | { readonly type: "bool" | "bytes32" }
  | { readonly type: "string"; readonly hash: boolean };

const WORD = 32;

/** Returns the value's 32 bytes as a big-endian number, or why the node is not of the type. */
export function nodeToValue(node: Json, shape: ValueShape): Reading<bigint> {
  switch (shape.type) {
    case "uint": {
      const text = isNumber(node) ? digitsOf(node) : node;
      if (typeof text !== "string")
        return failed("not_a_number", `${describeNode(node)} is neither a number nor a string`);
      return scaleDecimal(text, shape.decimals, shape.rounding);
    }
    case "bool":
      return typeof node === "boolean"
        ? ok(node ? 1n : 0n)
        : failed("not_a_bool", `${describeNode(node)} is not a boolean`);
    case "bytes32":
      return typeof node === "string" && /^0x[0-9a-fA-F]{64}$/.test(node)
        ? ok(BigInt(node))
        : failed("not_bytes32", `${describeNode(node)} is not 0x and 64 hex digits in a string`);
    case "string":
      return typeof node === "string"
        ? stringValue(node, shape.hash)
        : failed("not_a_string", `${describeNode(node)} is not a string`);
  }
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
