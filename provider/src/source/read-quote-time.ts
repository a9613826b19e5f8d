import { oneOf } from "@dataset-oracle/protocol/http-schemas/fields";
import { ok, type Result } from "@dataset-oracle/protocol/result";
import { type Static, Type } from "@sinclair/typebox";
import { scaleDecimal } from "./decimal-text.js";
import { digitsOf, isNumber, type Json } from "./exact-json.js";
import { compileJsonPath, findOne } from "./json-path.js";
import { failed, type Reading } from "./source-failure.js";
import type { TemplateValues } from "./text-template.js";

const UNITS = ["iso8601", "seconds", "milliseconds"] as const;

/** The place and unit of a quote's time in an answer. */
export const QuoteTimeSpec = Type.Object(
  {
    path: Type.String({ description: "JSONPath of the time." }),
    unit: oneOf(UNITS, "iso8601 is a UTC time that ends in Z; the others count from 1970."),
  },
  { additionalProperties: false, description: "The time at which the quote was made, if the source gives it." },
);
export type QuoteTimeSpec = Static<typeof QuoteTimeSpec>;

/** Reads a quote's time from an answer, in whole seconds since 1970. */
type ReadQuoteTime = (document: Json) => Reading<bigint>;

export function compileQuoteTime(
  { path, unit }: QuoteTimeSpec,
  variables: readonly string[],
): Result<(values: TemplateValues) => ReadQuoteTime> {
  const compiled = compileJsonPath(path, variables);
  if (!compiled.ok) return compiled;
  return ok((values) => {
    const bound = compiled.value.bind(values);
    return (document) => {
      const node = findOne(bound, document);
      return node.ok ? toSeconds(node.value, unit) : failed("no_quote_time", node.error.detail);
    };
  });
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;

function toSeconds(node: Json, unit: QuoteTimeSpec["unit"]): Reading<bigint> {
  const text = isNumber(node) ? digitsOf(node) : node;
  if (typeof text !== "string") return failed("no_quote_time", "contains no time");
  if (unit === "iso8601") {
    const milliseconds = ISO.test(text) ? Date.parse(text) : Number.NaN;
    if (Number.isNaN(milliseconds))
      return failed("no_quote_time", `${text.slice(0, 64)} is not a UTC time in ISO 8601`);
    return ok(BigInt(Math.floor(milliseconds / 1_000)));
  }
  const time = scaleDecimal(text, 0, "truncate");
  if (!time.ok) return failed("no_quote_time", time.error.detail);
  return ok(unit === "seconds" ? time.value : time.value / 1_000n);
}
