export interface ValidationFailure {
  readonly instancePath: string;
  readonly message?: string;
}

/** The validator's messages, rewritten for people. */
const MESSAGES: Readonly<Record<string, string>> = {
  "Expected required property": "is missing",
  "Unexpected property": "is unknown; remove it",
  "Expected integer": "must be a whole number, without quotes",
  "Expected boolean": "must be true or false, without quotes",
  "Expected string": "must be a string, in quotes",
  "Expected object": "must be a JSON object",
};

/** Rewrites one of the validator's messages for people. */
const reworded = (message: string): string =>
  MESSAGES[message] ??
  message
    .replace(/^Expected (?:integer|number) to be less or equal to /, "must be at most ")
    .replace(/^Expected (?:integer|number) to be greater or equal to /, "must be at least ");

/**
 * Returns what is wrong with each property, for people. The first failure of a property is the cause: a missing
 * property is not an integer either.
 */
export function problemsByProperty(failures: readonly ValidationFailure[]): ReadonlyMap<string, string> {
  const problems = new Map<string, string>();
  for (const { instancePath, message = "is not valid" } of failures) {
    const property = shortened(instancePath.slice(1).replaceAll("~1", "/").replaceAll("~0", "~")) || "the body";
    if (!problems.has(property)) problems.set(property, reworded(message));
  }
  return problems;
}

/** Writes a problem as a sentence. A message of the validator that was not rewritten stands after a colon. */
export const toSentence = (property: string, problem: string): string =>
  `${property}${/^[A-Z]/.test(problem) ? ":" : ""} ${problem}.`;

/** Shortens text from the caller before an answer repeats it. */
export const shortened = (text: string) => (text.length > 64 ? `${text.slice(0, 64)}...` : text);
