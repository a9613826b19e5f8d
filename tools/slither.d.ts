export interface SlitherResult {
  readonly check: string;
  readonly description: string;
}
/** A result with what is printed of it. */
export interface PlacedResult extends SlitherResult {
  readonly impact: string;
  readonly elements: readonly {
    readonly source_mapping: { readonly filename_relative: string; readonly lines: readonly number[] };
  }[];
}
export interface Explanation {
  readonly check: string;
  readonly why: string;
  readonly results: readonly string[];
}
export function readTriage(): readonly Explanation[];
export function describe(result: SlitherResult): string;
export function compare<T extends SlitherResult>(
  found: readonly T[],
  triage: readonly Explanation[],
): {
  readonly unexplained: readonly T[];
  readonly unused: readonly { readonly check: string; readonly text: string }[];
};
