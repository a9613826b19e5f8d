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

/** Rewrites a message of TypeBox for people, so that it completes a sentence that begins with the property's name. */
export function rewordSchemaError(message: string): string {
  const [pattern, words] = MESSAGES.find(([each]) => each.test(message)) ?? [];
  return pattern === undefined || words === undefined ? message : message.replace(pattern, words);
}
