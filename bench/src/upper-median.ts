/** Returns the middle number in ascending order; of an even count, the upper one of the two. */
export function upperMedian(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
