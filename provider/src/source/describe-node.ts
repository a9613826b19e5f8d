import { digitsOf, isNumber, type Json } from "./exact-json.js";

/** Describes a node briefly, for people. */
export function describeNode(node: Json, maxLength = 64): string {
  if (isNumber(node)) return digitsOf(node).slice(0, maxLength);
  if (typeof node === "object" && node !== null) return Array.isArray(node) ? "an array" : "an object";
  const text = typeof node === "string" ? node.slice(0, maxLength) : node;
  return JSON.stringify(text).slice(0, maxLength);
}
