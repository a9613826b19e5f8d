/** The value that several sources yield together. */
export type CombinedValue =
  | { readonly kind: "value"; readonly value: bigint }
  /** Sources failed or disagreed, so there is no value now. */
  | { readonly kind: "none"; readonly reason: string }
  /** It is unknown whether there is a value: sources that could decide it are at their rate limit, or were not read. */
  | { readonly kind: "busy"; readonly retryAfter: number };

/** The names of the outcomes in output for programs. */
export const OUTCOMES = { value: "OK", none: "NOT_AVAILABLE", busy: "BUSY" } as const;

/**
 * Decides the outcome when there are too few values: `busy` when enough sources can be asked again later that there may
 * be a value then, else `none`.
 *
 * @param waits After how many seconds each source at its rate limit can be asked again.
 * @param missing How many more values are needed.
 */
export function outcomeOfTooFewValues(waits: readonly number[], missing: number, reason: string): CombinedValue {
  const retryAfter = waits.toSorted((a, b) => a - b)[missing - 1];
  return retryAfter === undefined ? { kind: "none", reason } : { kind: "busy", retryAfter: Math.ceil(retryAfter) };
}
