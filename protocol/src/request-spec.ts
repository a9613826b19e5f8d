/** The request specs of the Web Oracle: what they may say, and which arguments fit them. */

import { type Static, Type } from "@sinclair/typebox";
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

/** The character classes for values. Specs name one of them, because a regular expression could be made to run for ever. */
const CHARACTERS = {
  digits: /^[0-9]*$/,
  letters: /^[A-Za-z]*$/,
  "upper-case": /^[A-Z]*$/,
  "lower-case": /^[a-z]*$/,
  alphanumeric: /^[A-Za-z0-9]*$/,
  hex: /^[0-9a-f]*$/,
  unreserved: /^[A-Za-z0-9._~-]*$/,
  ascii: /^[\x20-\x7e]*$/,
  unicode: /^[^\p{Cc}\p{Cs}]*$/u,
} as const;
type CharacterClass = keyof typeof CHARACTERS;
export const CHARACTER_CLASSES = Object.keys(CHARACTERS) as CharacterClass[];

const MAX_LENGTH = 180;

/** A variable of a request spec. */
export const Variable = Type.Object(
  {
    name: Type.String({
      pattern: "^[a-z][A-Za-z0-9_]{0,31}$",
      description: "Its name; {name} stands where the value goes.",
    }),
    type: oneOf(["string", "integer"], "An integer consists of digits without leading zeros."),
    characters: oneOf(
      CHARACTER_CLASSES,
      "The characters that its values may have. hex is lower case; unreserved is letters, digits and -._~; ascii is " +
        "what can be printed; unicode is all but control characters.",
    ),
    minLength: Type.Integer({
      minimum: 0,
      maximum: MAX_LENGTH,
      description: "The fewest characters that a value may have.",
    }),
    maxLength: Type.Integer({
      minimum: 1,
      maximum: MAX_LENGTH,
      description: "The most characters that a value may have.",
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

/** Returns why a value does not fit a variable, or null. */
export function argumentProblem({ type, characters, minLength, maxLength }: Variable, value: string): string | null {
  const length = Array.from(value).length;
  if (length < minLength || length > maxLength) {
    const range = minLength === maxLength ? String(minLength) : `${minLength} to ${maxLength}`;
    return `has ${length} characters, but must have ${range}`;
  }
  if (!CHARACTERS[characters].test(value)) return `has characters outside the class "${characters}"`;
  if (type === "integer" && /^0./.test(value)) return "has a leading zero";
  return null;
}

const MAX_PATH = 1_024;

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
        description: "The errors at errorPath that mean that the source's rate limit is used up.",
      }),
    ),
    type: oneOf(
      VALUE_TYPES,
      "The type of the value, the same for all sources of a spec. A bytes32 is written as 0x and 64 hex digits.",
    ),
    decimals: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 62, description: "For a uint: the value is the number times 10^decimals." }),
    ),
    rounding: Type.Optional(oneOf(ROUNDINGS, "For a uint: digits beyond the decimals are rounded, or cut off.")),
    format: Type.Optional(
      oneOf(
        ["iso8601"],
        "For a uint that is a date: text such as 2026-01-31T12:00:00Z or 2026-01-31T13:00+01:00 is read as seconds since 1970.",
      ),
    ),
    hash: Type.Optional(
      Type.Boolean({
        description: "For a string: true makes its keccak256 the value. Otherwise it may have at most 32 bytes.",
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
      description: "The symbol of the unit, for people: 1 to 16 characters without spaces, such as K, mm or USD.",
    }),
    decimals: Type.Integer({
      minimum: 0,
      maximum: 62,
      description: "The value on chain is the number in this unit, times 10 to this power.",
    }),
  },
  { additionalProperties: false, description: "The unit and the scale of a number, for showing it to people." },
);
export type SpecUnit = Static<typeof SpecUnit>;

/** The ways in which values of several sources become one. */
export const COMBINATIONS = ["median", "majority", "equal"] as const;
export type Combination = (typeof COMBINATIONS)[number];

/** A request spec. Its canonical JSON is published, and keys contain the hash of that JSON. */
export const RequestSpec = Type.Object(
  {
    title: Type.String({ minLength: 1, maxLength: 200, description: "A description of the value, for people." }),
    unit: Type.Optional(SpecUnit),
    variables: Type.Array(Variable, {
      maxItems: 8,
      description: "The variables that a key's arguments give values to, in their order; [] when there are none.",
    }),
    sources: Type.Array(SourceSpec, {
      minItems: 1,
      maxItems: 8,
      description: "The sources of the value. The values of several sources are combined.",
    }),
    minSources: Type.Integer({ minimum: 1, maximum: 8, description: "How many sources must answer for a value." }),
    combine: oneOf(
      COMBINATIONS,
      "How values are combined: numbers by median; others by majority (more than half of the answers agree) or by " +
        "equal (all of them agree).",
    ),
  },
  { additionalProperties: false },
);
export type RequestSpec = Static<typeof RequestSpec>;

/** The Web Oracle's two datasets, as the documentation calls them. */
export const DATASET_DISPLAY_NAMES: Readonly<Record<DatasetKind, string>> = { median: "number", majority: "bytes" };
