import { type Rounding, scaleDecimal } from "./decimal.js";
import { type JsonDocument, textAt } from "./document.js";
import { findOne, type JsonPath } from "./json-path.js";
import { failed, type Reading, throttled } from "./result.js";

/** How a value is taken out of a source's answer. */
export interface Extraction {
  readonly path: JsonPath;
  /** Where the source tells of an error of its own; any node there means that the answer has no value. */
  readonly errorPath: JsonPath | null;
  /** What the source says there when its rate limit is used up. */
  readonly throttleErrors: readonly string[];
  readonly decimals: number;
  readonly rounding: Rounding;
}

/** Takes the number, scaled by 10^decimals, out of an answer. */
export function extractUint(extraction: Extraction, document: JsonDocument): Reading<bigint> {
  const error = sourceError(extraction.errorPath, document);
  if (error !== null) {
    const isThrottle = extraction.throttleErrors.includes(error);
    return isThrottle ? throttled(`says: ${error}`, 1) : failed("source_error", `says: ${error}`);
  }
  const location = findOne(extraction.path, document);
  if (!location.ok) return location;
  const text = textAt(document, location.value);
  if (text === null) return failed("not_a_number", `${extraction.path.text} is neither a number nor a string`);
  return scaleDecimal(text, extraction.decimals, extraction.rounding);
}

function sourceError(path: JsonPath | null, document: JsonDocument): string | null {
  for (const location of path?.find(document) ?? []) {
    return textAt(document, location)?.slice(0, 200) ?? "an error";
  }
  return null;
}
