import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { backOffMs, isTimeout, wait, withDeadline } from "./context.js";

test.each([
  [1, 500, 1_000],
  [2, 1_000, 2_000],
  [5, 8_000, 16_000],
  [6, 15_000, 30_000],
  [1_000, 15_000, 30_000],
])("after %s failures in a row the back-off is from %s to %s ms", (failures, shortest, longest) => {
  const bounds = { firstMs: 1_000, maxMs: 30_000 };
  expect(backOffMs(failures, bounds, () => 1)).toBe(shortest);
  expect(backOffMs(failures, bounds, () => 0)).toBe(longest);
});

describe("a wait", () => {
  test.each([1_000, 2 ** 40])("of %s ms ends early when its signal is aborted, and not before", async (ms) => {
    const closing = new AbortController();
    let isOver = false;
    const waiting = wait(ms, closing.signal).then(() => {
      isOver = true;
    });
    await wait(20, new AbortController().signal);
    expect(isOver).toBe(false);
    closing.abort();
    await waiting;
  });

  test("leaves no listener on its signal", async () => {
    const { signal } = new AbortController();
    await wait(1, signal);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("ends at once when its signal was aborted before", async () => {
    await wait(3_600_000, AbortSignal.abort());
  });
});

describe("a call with a deadline", () => {
  const untilAborted = (signal: AbortSignal) =>
    new Promise<boolean>((resolve) => signal.addEventListener("abort", () => resolve(isTimeout(signal))));

  test("is told when the deadline is over", async () => {
    expect(await withDeadline(1, new AbortController().signal, untilAborted)).toBe(true);
  });

  test("is told when the process ends before the deadline", async () => {
    const closing = new AbortController();
    const ended = withDeadline(3_600_000, closing.signal, untilAborted);
    closing.abort();
    expect(await ended).toBe(false);
  });

  test("is aborted from the beginning when the process has ended", async () => {
    expect(await withDeadline(1, AbortSignal.abort(), async ({ aborted }) => aborted)).toBe(true);
  });

  test("leaves its signal alone once it has ended", async () => {
    const closing = new AbortController();
    const signal = await withDeadline(3_600_000, closing.signal, async (given) => given);
    expect(getEventListeners(closing.signal, "abort")).toEqual([]);
    closing.abort();
    expect(signal.aborted).toBe(false);
  });
});
