/**
 * Returns the pattern of a text of at most this many characters, none of which could disguise it: no control characters
 * and no changes of direction.
 */
export function plainTextPattern(maxLength: number): string {
  return `^[^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]{1,${maxLength}}$`;
}
