import { isLosslessNumber, parse } from "lossless-json";
import { failed, type Reading, read } from "./result.js";

/** Where a node is in a document: the name or index at each level. */
export type Location = readonly (string | number)[];

/**
 * A JSON text, parsed twice: `plain` is what a JSONPath looks through, and `exact` has the same shape with every number
 * kept as its text, because a float would lose digits.
 */
export interface JsonDocument {
  readonly plain: unknown;
  readonly exact: unknown;
}

/** @returns The document, or `not_json`: also for a member that is there twice with different values. */
export function parseDocument(text: string): Reading<JsonDocument> {
  try {
    return read({ plain: JSON.parse(text), exact: parse(text) });
  } catch (error) {
    return failed("not_json", `is not JSON: ${(error as Error).message.slice(0, 200)}`);
  }
}

/** The exact text of the number or string at a place, or null when something else is there. */
export function textAt(document: JsonDocument, location: Location): string | null {
  let node = document.exact;
  for (const step of location) {
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, step)) return null;
    node = (node as Record<string | number, unknown>)[step];
  }
  if (isLosslessNumber(node)) return node.value;
  return typeof node === "string" ? node : null;
}
