import { ok } from "@dataset-oracle/protocol/result";
import { digitsOf, isNumber, type Json } from "./document.js";
import { type BoundPath, findOne } from "./json-path.js";
import { failed, type Reading, throttled } from "./reading.js";
import { toValue, type ValueShape } from "./value.js";

/** The rules for taking a value out of a source's answer. */
export interface Extraction {
  readonly path: BoundPath;
  /** Where the source reports an error of its own. Any node there means that the answer has no value. */
  readonly errorPath: BoundPath | null;
  /** The errors there that mean that the source's rate limit is used up. */
  readonly throttleErrors: readonly string[];
  readonly shape: ValueShape;
}

export function extract({ path, errorPath, throttleErrors, shape }: Extraction, document: Json): Reading<bigint> {
  const error = errorPath === null ? ok(null) : findError(errorPath, document);
  if (!error.ok) return error;
  if (error.value !== null) {
    const says = `says: ${error.value}`;
    return throttleErrors.includes(error.value) ? throttled(says, 1) : failed("source_error", says);
  }
  const node = findOne(path, document);
  return node.ok ? toValue(node.value, shape) : node;
}

/** Returns the source's own error, or null when the answer has none. */
function findError(path: BoundPath, document: Json): Reading<string | null> {
  const found = path.find(document);
  if (!found.ok) return found;
  const [node] = found.value;
  if (node === undefined) return ok(null);
  const text = isNumber(node) ? digitsOf(node) : node;
  return ok(typeof text === "string" ? text.slice(0, 200) : "an error");
}
