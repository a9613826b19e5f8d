import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import { beforeEach, expect, test } from "vitest";
import type { ReadError } from "../operator-api.js";
import { Poller } from "./poller.js";

type Got = Result<number, ReadError>;

/** The readings that have begun and not ended. */
let reading: ((got: Got) => void)[];
let shown: Got[];
/** The next call, and in how many milliseconds. */
let next: { call: () => void; ms: number } | null;
let isHidden: boolean;
let poller: Poller<number>;

beforeEach(() => {
  [reading, shown, next, isHidden] = [[], [], null, false];
  const later = (call: () => void, ms: number) => {
    next = { call, ms };
    return () => {
      next = null;
    };
  };
  const read = () => new Promise<Got>((resolve) => reading.push(resolve));
  poller = new Poller(
    read,
    2_000,
    (got) => shown.push(got),
    () => isHidden,
    later,
  );
  void poller.poll();
});

async function answer(got: Got): Promise<void> {
  reading.shift()?.(got);
  await new Promise((settled) => setImmediate(settled));
}

const failure = (retryAfter: number | null) =>
  err({ code: "unreachable", title: "", detail: "", retryAfter } as ReadError);

test("a reading begins when the last one has ended, and the pause after it", async () => {
  await poller.poll();
  expect([reading.length, next]).toEqual([1, null]);
  await answer(ok(7));
  expect([shown, next?.ms, reading.length]).toEqual([[ok(7)], 2_000, 0]);
  next?.call();
  expect(reading).toHaveLength(1);
});

test.each([
  [null, 2_000],
  [1, 2_000],
  [30, 30_000],
])("after a failure that asks for %s s, the pause is %s ms", async (retryAfter, ms) => {
  await answer(failure(retryAfter));
  expect([shown, next?.ms]).toEqual([[failure(retryAfter)], ms]);
});

test("a reading at once replaces the next one", async () => {
  await answer(ok(7));
  void poller.poll();
  expect([reading.length, next]).toEqual([1, null]);
});

test("nothing is read while nobody looks", async () => {
  await answer(ok(7));
  isHidden = true;
  void poller.poll();
  expect([reading.length, next]).toEqual([0, null]);
});

test("nothing is shown or read once it has stopped", async () => {
  poller.stop();
  await answer(ok(7));
  void poller.poll();
  expect([shown, reading.length, next]).toEqual([[], 0, null]);
});
