/**
 * The middle value; for an even count the lower of the two in the middle (index (k - 1) / 2), so that the result is
 * always a value that a source gave. The contract takes its median alike.
 *
 * @throws When there are no values.
 */
export function median(values: readonly bigint[]): bigint {
  const ascending = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const middle = ascending[Math.floor((ascending.length - 1) / 2)];
  if (middle === undefined) throw new Error("There is no median of no values.");
  return middle;
}
