import { type Static, Type } from "@sinclair/typebox";

/** The characters that a variable's values can have: one of these lists, never a regular expression of a stranger's. */
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
export type CharacterClass = keyof typeof CHARACTERS;
export const CHARACTER_CLASSES = Object.keys(CHARACTERS) as CharacterClass[];

const MAX_LENGTH = 180;

/** A variable of a request spec. */
export const Variable = Type.Object(
  {
    name: Type.String({ pattern: "^[a-z][A-Za-z0-9_]{0,31}$", description: "Stands in braces where its value goes." }),
    type: Type.Union([Type.Literal("string"), Type.Literal("integer")], {
      description: "An integer has digits without leading zeros.",
    }),
    characters: Type.Union(
      CHARACTER_CLASSES.map((name) => Type.Literal(name)),
      { description: "The characters that its values can have." },
    ),
    minLength: Type.Integer({ minimum: 0, maximum: MAX_LENGTH, description: "The fewest characters of a value." }),
    maxLength: Type.Integer({ minimum: 1, maximum: MAX_LENGTH, description: "The most characters of a value." }),
  },
  { additionalProperties: false },
);
export type Variable = Static<typeof Variable>;

/** What is wrong with a variable's own settings, or null. */
export function variableProblem({ type, characters, minLength, maxLength }: Variable): string | null {
  if (minLength > maxLength) return `minLength ${minLength} is above maxLength ${maxLength}. Correct one.`;
  if (type === "integer" && (characters !== "digits" || minLength === 0)) {
    return 'An integer has the characters "digits", and minLength 1 or more.';
  }
  return null;
}

/** Why a value is none of the variable's, or null. */
export function argumentProblem({ type, characters, minLength, maxLength }: Variable, value: string): string | null {
  const length = Array.from(value).length;
  if (length < minLength || length > maxLength) {
    const range = minLength === maxLength ? String(minLength) : `${minLength} to ${maxLength}`;
    return `has ${length} characters, and may have ${range}`;
  }
  if (!CHARACTERS[characters].test(value)) return `has characters that are not ${characters}`;
  if (type === "integer" && /^0./.test(value)) return "has a leading zero";
  return null;
}
