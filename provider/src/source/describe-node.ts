import { digitsOf, isNumber, type Json } from "./exact-json.js";

/** Describes a node briefly, for people. */
export function describeNode(node: Json, maxLength = 64): string {
  if (isNumber(node)) return digitsOf(node).slice(0, maxLength);
  if (typeof node === "object" && node !== null) return Array.isArray(node) ? "an array" : "an object";
  const text = typeof node === "string" ? node.slice(0, maxLength) : node;
  return JSON.stringify(text).slice(0, maxLength);
}

/** The maximum number of members of an object that are named. */
const MAX_NAMES = 20;

/** Describes a node like `describeNode`, and says what is in an array or object, for people who look for a value in it. */
export function describeNodeWithMembers(node: Json, maxLength: number): string {
  if (isNumber(node) || typeof node !== "object" || node === null) return describeNode(node, maxLength);
  if (Array.isArray(node)) return `an array of length ${node.length}`;
  const names = Object.keys(node)
    .slice(0, MAX_NAMES)
    .map((name) => name.slice(0, maxLength));
  return `an object with the members ${names.join(", ") || "(none)"}`.slice(0, maxLength);
}
