/** Runs `work` on every item, with at most `atOnce` at the same time. */
export function forEachConcurrently<T>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T, index: number) => Promise<unknown>,
): Promise<void>;
