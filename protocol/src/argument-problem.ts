/** Which arguments fit a variable of a request spec. Pages check them too, so no schemas are loaded here. */

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

/** The values that a variable may have. */
interface Bounds {
  readonly type: "string" | "integer";
  readonly characters: CharacterClass;
  readonly minLength: number;
  readonly maxLength: number;
}

/** Returns why a value does not fit a variable, or null. */
export function argumentProblem({ type, characters, minLength, maxLength }: Bounds, value: string): string | null {
  const length = Array.from(value).length;
  if (length < minLength || length > maxLength) {
    const range = minLength === maxLength ? String(minLength) : `${minLength} to ${maxLength}`;
    return `has ${length} ${length === 1 ? "character" : "characters"}, but must have ${range}`;
  }
  if (!CHARACTERS[characters].test(value)) return `has characters outside the class "${characters}"`;
  if (type === "integer" && /^0./.test(value)) return "has a leading zero";
  return null;
}
