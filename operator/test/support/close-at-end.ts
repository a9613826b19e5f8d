import { afterAll } from "vitest";

const opened: (() => Promise<void>)[] = [];

afterAll(async () => {
  for (const close of opened.toReversed()) await close();
});

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
