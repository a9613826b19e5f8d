/** The steps of the plot, and what the page says about a range. */

import type { HistoryAnswer, StoredUpdate } from "@dataset-oracle/protocol/http-schemas/history";
import type { ServedPoint } from "@dataset-oracle/protocol/http-schemas/overview";
import { expect, test } from "vitest";
import { drawnSteps, stepAt, stepsOf } from "../src/live/history-steps.js";
import { summaryOf } from "../src/live/history-summary.js";

const update = (timestamp: number, value: number | null): StoredUpdate => ({
  status: value === null ? "DISAGREEMENT" : "OK",
  value: String(value ?? 0),
  timestamp,
  block_number: timestamp,
  transaction_hash: "0x",
});
const answer = (more: Partial<HistoryAnswer>): HistoryAnswer => ({
  network_id: 42,
  dataset: "0x",
  key: null,
  key_hex: "0x",
  from: 0,
  to: 1,
  updates: [],
  before: null,
  ...more,
});
const point = (timestamp: number, value: number) => update(timestamp, value) as unknown as ServedPoint;
const times = (steps: readonly { time: number; value: bigint | null }[]) =>
  steps.map(({ time, value }) => [time, value]);

test("the value that held when the range began is its first step", () => {
  const history = answer({ updates: [update(130, 3), update(110, 2)], before: update(40, 1) });
  expect(times(stepsOf(history, 100, point(130, 3)))).toEqual([
    [100, 1n],
    [110, 2n],
    [130, 3n],
  ]);
});

test("a value that was stored after the history was read is the last step, once", () => {
  const history = answer({ updates: [update(110, 2)] });
  expect(times(stepsOf(history, null, point(130, 5)))).toEqual([
    [110, 2n],
    [130, 5n],
  ]);
  expect(times(stepsOf(history, null, point(110, 2)))).toEqual([[110, 2n]]);
});

test("a round without a value is a gap, and candles are steps with a spread", () => {
  expect(times(stepsOf(answer({ updates: [update(9, null), update(8, 1)] }), null, point(9, 0)))[1]).toEqual([9, null]);
  const candles = [{ start: 60, open: "3", high: "9", low: "2", close: "5", updates: 4 }];
  const steps = stepsOf(answer({ candles, before: update(10, 4) }), 50, point(70, 5));
  expect(steps).toEqual([
    { time: 50, value: 4n, high: 4n, low: 4n },
    { time: 60, value: 5n, high: 9n, low: 2n },
  ]);
  expect(summaryOf(steps)).toEqual({ change: "+25.000 %", high: 9n, low: 2n });
});

test("a value is drawn until the next round, also if that has none, and the last one until the end", () => {
  const rounds = [update(130, 3), update(121, null), update(120, null), update(110, 2)];
  expect(times(drawnSteps(stepsOf(answer({ updates: rounds }), null, point(130, 3)), 150))).toEqual([
    [110, 2n],
    [119.999, 2n],
    [120, null],
    [121, null],
    [130, 3n],
    [150, 3n],
  ]);
  const failed = stepsOf(answer({ updates: rounds.slice(2) }), null, point(110, 2));
  expect(times(drawnSteps(failed, 100))).toEqual([
    [110, 2n],
    [119.999, 2n],
    [120, null],
    [121, null],
  ]);
});

test("a range without a value has no summary", () => {
  expect(summaryOf(stepsOf(answer({ updates: [update(9, null)] }), null, point(0, 0)))).toBeNull();
});

test.each([
  [5, 0],
  [10, 0],
  [19, 0],
  [20, 1],
  [99, 2],
])("at %s the step %s holds", (time, index) => {
  const steps = [10, 20, 30].map((start) => ({ time: start, value: 1n, high: 1n, low: 1n }));
  expect(stepAt(steps, time)).toBe(index);
});
