import { oneOf } from "@dataset-oracle/protocol/http-schemas/fields";
import { VALUE_TYPES } from "@dataset-oracle/protocol/value-type";
import { type Static, Type } from "@sinclair/typebox";
import { ROUNDINGS } from "./decimal-text.js";

/** Makes the schema of a list of a source's own error texts. */
export function errorTexts(description: string) {
  return Type.Optional(Type.Array(Type.String({ maxLength: 200 }), { maxItems: 16, description }));
}

/** The part that every source's spec has: the request, and how its answer becomes a value. */
export const SourceSpec = Type.Object(
  {
    method: oneOf(["GET", "POST"], "The HTTP method."),
    url: Type.String({ maxLength: 2_048, description: "The https URL, with variables in its path or query." }),
    headers: Type.Optional(
      Type.Record(
        Type.String({ pattern: "^[a-z][a-z0-9-]{0,63}$" }),
        Type.String({ maxLength: 512, pattern: "^[\\x21-\\x7e](?:[\\x20-\\x7e]*[\\x21-\\x7e])?$" }),
        {
          additionalProperties: false,
          description: "Request headers. Put no secrets here, because a spec is public.",
        },
      ),
    ),
    body: Type.Optional(
      Type.String({ maxLength: 4_096, description: "The JSON that POST sends, with variables inside its strings." }),
    ),
    path: Type.String({
      description: "JSONPath of the value, with variables inside its strings. It must match exactly one node.",
    }),
    errorPath: Type.Optional(
      Type.String({ description: "JSONPath of the source's own error. An answer in which it matches gives no value." }),
    ),
    throttleErrors: errorTexts("The errors at errorPath that mean that the source's rate limit is used up."),
    type: oneOf(VALUE_TYPES, "The type of the value."),
    decimals: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 62, description: "For a uint: the value is the number times 10^decimals." }),
    ),
    rounding: Type.Optional(oneOf(ROUNDINGS, "For a uint: how digits beyond the decimals are dropped.")),
    hash: Type.Optional(
      Type.Boolean({
        description: "For a string: true makes its keccak256 the value. Otherwise it may have at most 32 bytes.",
      }),
    ),
  },
  { additionalProperties: false },
);
export type SourceSpec = Static<typeof SourceSpec>;
