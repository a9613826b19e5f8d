/**
 * The outcome of an operation that is expected to fail at times: a value, or why there is none. By default the error is
 * text for people: the fact, the value at fault, and the fix. Unexpected failures are thrown instead.
 */
export type Result<T, E = string> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: E };

export const ok = <T>(value: T): Result<T, never> => ({ ok: true, value });

export const err = <E>(error: E): Result<never, E> => ({ ok: false, error });
