/** The ranges of a history, and the steps of its plot. */

import type { StoredUpdate } from "@dataset-oracle/protocol/http-schemas/history";
import type { ServedPoint } from "@dataset-oracle/protocol/http-schemas/overview";
import { expect, test } from "vitest";
import { defaultRange, drawnSteps, type HistoryStep, stepAt, stepsOf, thinnedSteps } from "./history.js";

const update = (timestamp: number, value: number | null): StoredUpdate => ({
  status: value === null ? "DISAGREEMENT" : "OK",
  value: String(value ?? 0),
  timestamp,
  block_number: timestamp,
  transaction_hash: "0x",
});
const historyOf = (updates: readonly StoredUpdate[], before: StoredUpdate | null = null) => ({
  updates,
  before,
  isWhole: true,
});
const point = (timestamp: number, value: number) => update(timestamp, value) as unknown as ServedPoint;
const times = (steps: readonly HistoryStep[]) => steps.map(({ time, value }) => [time, value]);
const step = (time: number, value: bigint | null): HistoryStep => ({ time, value, high: value, low: value });

test.each([
  [30, "1 h"],
  [3_600, "1 d"],
  [null, "1 w"],
])("with a heartbeat of %s the first range is %s", (heartbeat_seconds, range) => {
  expect(defaultRange({ heartbeat_seconds })).toBe(range);
});

test("the value that held when the range began is its first step, whether it was read as part of the range or not", () => {
  const rounds = [update(130, 3), update(110, 2)];
  const expected = [
    [100, 1n],
    [110, 2n],
    [130, 3n],
  ];
  expect(times(stepsOf(historyOf(rounds, update(40, 1)), 100, point(130, 3)))).toEqual(expected);
  expect(times(stepsOf(historyOf([...rounds, update(90, 1), update(80, 7)]), 100, point(130, 3)))).toEqual(expected);
  expect(times(stepsOf(historyOf(rounds), 100, point(130, 3)))).toEqual(expected.slice(1));
});

test("a value that was stored after the history was read is the last step, once", () => {
  expect(times(stepsOf(historyOf([update(110, 2)]), null, point(130, 5)))).toEqual([
    [110, 2n],
    [130, 5n],
  ]);
  expect(times(stepsOf(historyOf([update(110, 2)]), null, point(110, 2)))).toEqual([[110, 2n]]);
  expect(times(stepsOf(historyOf([], update(90, 4)), 100, point(90, 4)))).toEqual([[100, 4n]]);
});

test("a value is drawn until the next round, also if that has none, and the last one until the end", () => {
  const rounds = [update(130, 3), update(121, null), update(120, null), update(110, 2)];
  expect(times(drawnSteps(stepsOf(historyOf(rounds), null, point(130, 3)), 150))).toEqual([
    [110, 2n],
    [119.999, 2n],
    [120, null],
    [121, null],
    [130, 3n],
    [150, 3n],
  ]);
  const failed = stepsOf(historyOf(rounds.slice(2)), null, point(110, 2));
  expect(times(drawnSteps(failed, 100))).toEqual([
    [110, 2n],
    [119.999, 2n],
    [120, null],
    [121, null],
  ]);
});

test("a thinned plot keeps the extremes, the newest value of each step, and its gaps only where nothing else is", () => {
  const steps = [step(0, 5n), step(1, 9n), step(2, 2n), step(3, 6n), step(10, null), step(19, null), step(20, 7n)];
  expect(thinnedSteps(steps, 7)).toBe(steps);
  expect(thinnedSteps(steps, 2)).toEqual([{ time: 0, value: 6n, high: 9n, low: 2n }, step(10, null), step(20, 7n)]);
  expect(thinnedSteps([step(0, null), step(1, 4n), step(9, 1n)], 2)).toEqual([step(0, 4n), step(9, 1n)]);
  const many = Array.from({ length: 3_000 }, (_, time) => step(time, BigInt((time * 7_919) % 3_000)));
  const thin = thinnedSteps(many, 400);
  expect(thin.length).toBeLessThanOrEqual(401);
  expect([thin[0]?.time, thin.at(-1)?.value]).toEqual([0, many.at(-1)?.value]);
  expect(thin.some(({ high }) => high === 2_999n) && thin.some(({ low }) => low === 0n)).toBe(true);
});

test.each([
  [5, 0],
  [10, 0],
  [19, 0],
  [20, 1],
  [99, 2],
])("at %s the step %s holds", (time, index) => {
  const steps = [10, 20, 30].map((start) => step(start, 1n));
  expect(stepAt(steps, time)).toBe(index);
});
