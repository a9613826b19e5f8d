/** One round of the operator and its baseline. */
export interface Measurement {
  readonly ratio: number;
  /** Says what both of them took. */
  readonly note: string;
}
