import { err } from "@dataset-oracle/protocol/result";
import { digitsOf, isNumber, type Json } from "./exact-json.js";
import { type BoundPath, type Budget, findOne } from "./json-path.js";
import { nodeToValue, type ValueShape } from "./node-to-value.js";
import type { FailureCode, Reading, SourceFailure } from "./source-failure.js";

/** The rules for taking a value out of a source's answer. */
interface Extraction {
  readonly path: BoundPath;
  readonly errors: ErrorRules;
  readonly shape: ValueShape;
}

/** The rules for finding a source's own error in its answer. */
interface ErrorRules {
  /** Selects the error. Any node there means that the answer has no value. Null when the source names no errors. */
  readonly path: BoundPath | null;
  /** The meanings of errors, by a text or number at the path; `source_error` for all others. */
  readonly codes: ReadonlyMap<string, FailureCode>;
}

/** Takes the value out of a source's answer. */
export function extract(extraction: Extraction, document: Json, budget?: Budget): Reading<bigint> {
  const node = selectNode(extraction, document, budget);
  return node.ok ? nodeToValue(node.value, extraction.shape) : node;
}

/** Finds the node that the value is made from, unless the source names an error of its own. */
export function selectNode({ path, errors }: Extraction, document: Json, budget?: Budget): Reading<Json> {
  const error = findError(errors, document, budget);
  return error === null ? findOne(path, document, budget) : err(error);
}

const MAX_ERROR = 200;

/** Returns the source's own error, or null when the answer has none. */
export function findError({ path, codes }: ErrorRules, document: Json, budget?: Budget): SourceFailure | null {
  if (path === null) return null;
  const found = path.find(document, budget);
  if (!found.ok) return found.error;
  if (found.value.length === 0) return null;
  const texts = found.value.map((node) => (isNumber(node) ? digitsOf(node) : node)).filter((node) => isText(node));
  const code = texts.map((text) => codes.get(text)).find((known) => known !== undefined) ?? "source_error";
  const detail = `says: ${texts.join(", ").slice(0, MAX_ERROR) || "an error"}`;
  return code === "throttled" ? { code, detail, retryAfter: 1 } : { code, detail };
}

const isText = (node: Json): node is string => typeof node === "string" && node !== "";
