/** Returns what most endpoints say, of an even number the lower one in the middle: one false answer does not move it far. */
export function lowerMedian(numbers: readonly number[]): number | undefined {
  return numbers.toSorted((a, b) => a - b)[(numbers.length - 1) >> 1];
}
