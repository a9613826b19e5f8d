import { digitsOf, isNumber, type Json } from "./document.js";
import { type BoundPath, findOne } from "./json-path.js";
import { failed, type Reading, read, throttled } from "./reading.js";
import { toValue, type ValueShape } from "./value.js";

/** How a value is taken out of a source's answer. */
export interface Extraction {
  readonly path: BoundPath;
  /** The path as it was written, for people. */
  readonly pathText: string;
  /** Where the source tells of an error of its own; any node there means that the answer has no value. */
  readonly errorPath: BoundPath | null;
  /** What the source says there when its rate limit is used up. */
  readonly throttleErrors: readonly string[];
  readonly shape: ValueShape;
}

/** Takes the value out of an answer. */
export function extract(extraction: Extraction, document: Json): Reading<bigint> {
  const error = sourceError(extraction.errorPath, document);
  if (!error.ok) return error;
  if (error.value !== null) {
    const says = `says: ${error.value}`;
    return extraction.throttleErrors.includes(error.value) ? throttled(says, 1) : failed("source_error", says);
  }
  const node = findOne(extraction.path, extraction.pathText, document);
  return node.ok ? toValue(node.value, extraction.shape) : node;
}

/** The source's own error, or null. */
function sourceError(path: BoundPath | null, document: Json): Reading<string | null> {
  if (path === null) return read(null);
  const found = path.find(document);
  if (!found.ok) return found;
  const [node] = found.value;
  if (node === undefined) return read(null);
  const text = isNumber(node) ? digitsOf(node) : node;
  return read(typeof text === "string" ? text.slice(0, 200) : "an error");
}
