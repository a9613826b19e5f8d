import { numberToHex } from "viem";
import { expect, test } from "vitest";
import type { PastUpdate } from "../chain/update-events.js";
import { candlesOf } from "./candles.js";

const update = (timestamp: number, value: number | null): PastUpdate => ({
  timestamp: BigInt(timestamp),
  value: numberToHex(value ?? 0, { size: 32 }),
  status: value === null ? "DISAGREEMENT" : "OK",
  blockNumber: timestamp,
  transactionHash: "0x",
});

test("candles have the first, the highest, the lowest and the last value of each interval, the newest first", () => {
  const updates = [update(125, 4), update(119, 5), update(100, 9), update(90, 2), update(60, 3), update(59, 8)];
  expect(candlesOf(updates, 60)).toEqual([
    { start: 120, open: "4", high: "4", low: "4", close: "4", updates: 1 },
    { start: 60, open: "3", high: "9", low: "2", close: "5", updates: 4 },
    { start: 0, open: "8", high: "8", low: "8", close: "8", updates: 1 },
  ]);
});

test("an update without a value is only counted, and an interval with only such updates has no candle", () => {
  expect(candlesOf([update(130, null), update(70, null), update(61, 7)], 60)).toEqual([
    { start: 60, open: "7", high: "7", low: "7", close: "7", updates: 2 },
  ]);
});

test("values above what a float can hold stay exact", () => {
  const updates = [update(1, 0), { ...update(0, 0), value: numberToHex(2n ** 208n - 1n, { size: 32 }) }];
  expect(candlesOf(updates, 60)[0]).toMatchObject({ high: String(2n ** 208n - 1n), low: "0" });
});
