import { type Static, Type } from "@sinclair/typebox";
import { ROUNDINGS } from "./decimal.js";
import { VALUE_TYPES } from "./value.js";

/** The request, and how a value is taken out of its answer: what every source's spec says. */
export const SourceSpec = Type.Object(
  {
    method: Type.Union([Type.Literal("GET"), Type.Literal("POST")], { description: "How it is asked." }),
    url: Type.String({ maxLength: 2_048, description: "https url, with variables in its path or query." }),
    headers: Type.Optional(
      Type.Record(
        Type.String({ pattern: "^[a-z][a-z0-9-]{0,63}$" }),
        Type.String({ maxLength: 512, pattern: "^[\\x21-\\x7e](?:[\\x20-\\x7e]*[\\x21-\\x7e])?$" }),
        { additionalProperties: false, description: "Request headers. No secrets: a spec is public." },
      ),
    ),
    body: Type.Optional(
      Type.String({ maxLength: 4_096, description: "The JSON that is sent with POST, variables in its strings." }),
    ),
    path: Type.String({
      description: "JSONPath (RFC 9535) of the value, variables in its strings; it must match exactly one node.",
    }),
    errorPath: Type.Optional(
      Type.String({ description: "JSONPath of the source's own error; an answer that has one gives no value." }),
    ),
    throttleErrors: Type.Optional(
      Type.Array(Type.String({ maxLength: 200 }), {
        maxItems: 16,
        description: "The errors there that say that the rate limit is used up.",
      }),
    ),
    type: Type.Union(
      VALUE_TYPES.map((type) => Type.Literal(type)),
      { description: "What the value is." },
    ),
    decimals: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 62, description: "Of a uint: the value is the number times 10^decimals." }),
    ),
    rounding: Type.Optional(
      Type.Union(
        ROUNDINGS.map((rounding) => Type.Literal(rounding)),
        { description: "Of a uint: what becomes of decimals beyond those." },
      ),
    ),
    hash: Type.Optional(
      Type.Boolean({ description: "Of a string: its keccak256 is the value. Else it has at most 32 bytes." }),
    ),
  },
  { additionalProperties: false },
);
export type SourceSpec = Static<typeof SourceSpec>;
