/** Returns the middle number in ascending order; of an even count, the upper one of the two. */
export function upperMedian(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}
