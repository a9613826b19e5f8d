import type { TSchema } from "@sinclair/typebox";

/** TypeBox's messages, in the words of people who write configuration files, specs and requests. */
const MESSAGES: readonly (readonly [RegExp, string])[] = [
  [/^Expected required property$/, "is missing"],
  [/^Unexpected property$/, "is unknown; remove it"],
  [/^Expected integer$/, "must be a whole number, without quotes"],
  [/^Expected number$/, "must be a number, without quotes"],
  [/^Expected boolean$/, "must be true or false, without quotes"],
  [/^Expected string$/, "must be a string, in quotes"],
  [/^Expected object$/, "must be a JSON object"],
  [/^Expected array$/, "must be a list"],
  [/^Expected array elements to be unique$/, "has the same item twice"],
  [/^Expected array length to be less or equal to (\d+)$/, "must have at most $1 items"],
  [/^Expected array length to be greater or equal to 1$/, "must not be empty"],
  [/^Expected array length to be greater or equal to (\d+)$/, "must have at least $1 items"],
  [/^Expected (?:integer|number) to be less or equal to (.+)$/, "must be at most $1"],
  [/^Expected (?:integer|number) to be greater or equal to (.+)$/, "must be at least $1"],
  [/^Expected string length less or equal to (\d+)$/, "must have at most $1 characters"],
  [/^Expected string length greater or equal to 1$/, "must not be empty"],
  [/^Expected string length greater or equal to (\d+)$/, "must have at least $1 characters"],
  [/^Expected string to match '(.*)' format$/, "must be of the form $1"],
  [/^Expected string to match '.*'$/, "does not have the required form"],
];

/**
 * Rewrites a message of TypeBox for people, so that it completes a sentence that begins with the property's name.
 *
 * @param path The JSON pointer of the property.
 * @param object The schema of the object that has an unexpected property.
 */
export function rewordSchemaError(message: string, path: string, object: TSchema | undefined): string {
  const rightName = message === "Unexpected property" ? similarName(path, object) : undefined;
  if (rightName !== undefined) return `is unknown; the right name is ${rightName}`;
  const [pattern, words] = MESSAGES.find(([each]) => each.test(message)) ?? [];
  return pattern === undefined || words === undefined ? message : message.replace(pattern, words);
}

/** Finds the known property that differs from an unexpected one only in the case of letters and in separators. */
function similarName(path: string, object: TSchema | undefined): string | undefined {
  const letters = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, "");
  const unexpected = letters(path.slice(path.lastIndexOf("/")));
  return Object.keys(object?.properties ?? {}).find((name) => letters(name) === unexpected);
}
