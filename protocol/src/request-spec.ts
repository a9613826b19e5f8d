/** The request specs of the Web Oracle: what they may say. */

import { type Static, Type } from "@sinclair/typebox";
import { CHARACTER_CLASSES } from "./argument-problem.js";
import type { DatasetKind } from "./dataset-kind.js";
import { oneOf } from "./http-schemas/fields.js";

/** The types that a request spec can give its value. */
export const VALUE_TYPES = ["uint", "bool", "bytes32", "string"] as const;
export type ValueType = (typeof VALUE_TYPES)[number];

/**
 * How digits beyond the kept decimals are dropped. `half-even` rounds to the nearest, and exact ties to the even
 * neighbour, so that many roundings do not drift. `truncate` cuts them off.
 */
export const ROUNDINGS = ["half-even", "truncate"] as const;
export type Rounding = (typeof ROUNDINGS)[number];

const MAX_LENGTH = 180;

/** A variable of a request spec. */
export const Variable = Type.Object(
  {
    name: Type.String({
      pattern: "^[a-z][A-Za-z0-9_]{0,31}$",
      description:
        "{name} stands where the value goes: a lower-case letter, then at most 31 letters, digits and underscores.",
    }),
    type: oneOf(
      ["string", "integer"],
      "An integer has no leading zeros; its characters are digits, and its minLength is 1 or more.",
    ),
    characters: oneOf(
      CHARACTER_CLASSES,
      "hex is lower case; unreserved is letters, digits and -._~; ascii is what can be printed; unicode is all but " +
        "control characters.",
    ),
    minLength: Type.Integer({
      minimum: 0,
      maximum: MAX_LENGTH,
      description: "The fewest characters of a value.",
    }),
    maxLength: Type.Integer({
      minimum: 1,
      maximum: MAX_LENGTH,
      description: "The most characters of a value.",
    }),
  },
  { additionalProperties: false },
);
export type Variable = Static<typeof Variable>;

/** Returns what is wrong with a variable's settings, or null. */
export function variableProblem({ type, characters, minLength, maxLength }: Variable): string | null {
  if (minLength > maxLength) return `minLength ${minLength} is above maxLength ${maxLength}. Change one of them.`;
  if (type === "integer" && (characters !== "digits" || minLength === 0)) {
    return 'An integer needs the characters "digits" and a minLength of at least 1.';
  }
  return null;
}

const MAX_PATH = 1_024;

/** The part that every source's spec has: the request, and how its answer becomes a value. */
export const SourceSpec = Type.Object(
  {
    method: oneOf(["GET", "POST"], "The HTTP method."),
    url: Type.String({ maxLength: 2_048, description: "The https URL." }),
    headers: Type.Optional(
      Type.Record(
        Type.String({ pattern: "^[a-z][a-z0-9-]{0,63}$" }),
        Type.String({ maxLength: 512, pattern: "^[\\x21-\\x7e](?:[\\x20-\\x7e]*[\\x21-\\x7e])?$" }),
        {
          additionalProperties: false,
          description:
            "Names in lower case with at most 64 letters, digits and hyphens, and values of 1 to 512 characters of ASCII; " +
            "none for the connection, cookies, authorization, accept-encoding, range or content-type. Put no secrets " +
            "here, because a spec is public.",
        },
      ),
    ),
    body: Type.Optional(
      Type.String({ maxLength: 4_096, description: "Required for POST: the JSON that it sends, as a string." }),
    ),
    path: Type.String({
      maxLength: MAX_PATH,
      description: "JSONPath of the value. It must match exactly one node.",
    }),
    errorPath: Type.Optional(
      Type.String({
        maxLength: MAX_PATH,
        description: "JSONPath of the source's own error. An answer in which it matches gives no value.",
      }),
    ),
    throttleErrors: Type.Optional(
      Type.Array(Type.String({ maxLength: 200 }), {
        maxItems: 16,
        description:
          "The texts at errorPath that mean that the source's rate limit is used up, with at most 200 characters each.",
      }),
    ),
    type: oneOf(VALUE_TYPES, "The type of the value, the same for all sources."),
    decimals: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 62,
        description: "Required for a uint: the value is the number times 10^decimals.",
      }),
    ),
    rounding: Type.Optional(
      oneOf(ROUNDINGS, "Required for a uint: digits beyond the decimals are rounded, ties to even, or cut off."),
    ),
    format: Type.Optional(oneOf(["iso8601"], "For a uint: a date is read as seconds since 1970.")),
    hash: Type.Optional(
      Type.Boolean({
        description: "For a string: true makes its keccak256 the value, whatever its length.",
      }),
    ),
  },
  { additionalProperties: false },
);
export type SourceSpec = Static<typeof SourceSpec>;

// No spaces, no control characters, nothing that is invisible or changes the direction of the text around it.
const SYMBOL = "^[^\\s\\u0000-\\u001f\\u007f-\\u009f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff]{1,16}$";

/** The unit of a number, as a request spec states it. */
export const SpecUnit = Type.Object(
  {
    symbol: Type.String({
      pattern: SYMBOL,
      description: "For people: 1 to 16 characters without spaces, such as K, mm or USD.",
    }),
    decimals: Type.Integer({
      minimum: 0,
      maximum: 62,
      description: "The value on chain is the number in this unit times 10^decimals.",
    }),
  },
  { additionalProperties: false, description: "For a uint: how to show it to people." },
);
export type SpecUnit = Static<typeof SpecUnit>;

/** The ways in which values of several sources become one. */
export const COMBINATIONS = ["median", "majority", "equal"] as const;
export type Combination = (typeof COMBINATIONS)[number];

/** A request spec. Its canonical JSON is published, and keys contain the hash of that JSON. */
export const RequestSpec = Type.Object(
  {
    title: Type.String({ minLength: 1, maxLength: 200, description: "The value in words, for people." }),
    unit: Type.Optional(SpecUnit),
    variables: Type.Array(Variable, {
      maxItems: 8,
      description: "What a key's arguments give values to, in their order; [] when there are none.",
    }),
    sources: Type.Array(SourceSpec, {
      minItems: 1,
      maxItems: 8,
      description: "Where the value is read.",
    }),
    minSources: Type.Integer({ minimum: 1, maximum: 8, description: "How many sources must have a value." }),
    combine: oneOf(
      COMBINATIONS,
      "Numbers are combined by median; others by majority (more than half of the values agree) or by equal (all do).",
    ),
  },
  { additionalProperties: false },
);
export type RequestSpec = Static<typeof RequestSpec>;

/** The Web Oracle's two datasets, as the documentation calls them. */
export const DATASET_DISPLAY_NAMES: Readonly<Record<DatasetKind, string>> = { median: "number", majority: "bytes" };
