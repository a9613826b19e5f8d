/**
 * Returns the middle value or, for an even count k, the lower of the two in the middle (index (k - 1) / 2, rounded
 * down), so that the result is always a value that a source gave. The contract computes its median in the same way.
 *
 * @throws When `values` is empty.
 */
export function median(values: readonly bigint[]): bigint {
  const ascending = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const middle = ascending[Math.floor((ascending.length - 1) / 2)];
  if (middle === undefined) throw new Error("An empty list has no median.");
  return middle;
}
