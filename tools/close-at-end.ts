// Closes what the tests of a file leave open. Files share processes, so the list of it is emptied after each file.

const opened: (() => Promise<void>)[] = [];

/**
 * Closes something at the end of the test file, the latest first, unless the tests have done so.
 *
 * @returns The function by which tests close it.
 */
export function closeAtEnd(close: () => Promise<unknown>): () => Promise<void> {
  let closed: Promise<void> | undefined;
  const once = () => {
    closed ??= close().then(() => {});
    return closed;
  };
  opened.push(once);
  return once;
}

/** Closes what is open at the end of a test file. */
export async function closeAll(): Promise<void> {
  for (const close of opened.splice(0).toReversed()) await close();
}
