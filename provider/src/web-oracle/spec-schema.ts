import type { DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import { oneOf } from "@dataset-oracle/protocol/http-schemas/fields";
import { SpecUnit } from "@dataset-oracle/protocol/spec-unit";
import { type Static, Type } from "@sinclair/typebox";
import { SourceSpec } from "../source/compile-source.js";

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
    characters: oneOf(CHARACTER_CLASSES, "The characters that its values may have."),
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
