import { digitsOf, isNumber, type Json } from "../../src/source/exact-json.js";

/** Returns exact JSON as `JSON.parse` would, with its numbers as floats. */
export function plainJson(node: Json): unknown {
  if (isNumber(node)) return Number(digitsOf(node));
  if (Array.isArray(node)) return node.map(plainJson);
  if (typeof node !== "object" || node === null) return node;
  return Object.fromEntries(Object.entries(node).map(([name, member]) => [name, plainJson(member)]));
}
