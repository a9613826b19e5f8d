/** A clock for tests, whose time of day and monotonic time pass together. */
export function clockOf(time: () => number) {
  return { now: time, monotonic: time };
}
