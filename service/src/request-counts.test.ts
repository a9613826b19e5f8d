import { expect, test } from "vitest";
import { RequestCounts } from "./request-counts.js";

const WINDOW_MS = 60_000;

test("each caller has a window of its own, which begins with its first request", () => {
  const counts = new RequestCounts(WINDOW_MS, 10);
  expect(counts.add("a", 0)).toEqual({ count: 1, endsAt: 60_000 });
  expect(counts.add("b", 5_000)).toEqual({ count: 1, endsAt: 65_000 });
  expect(counts.add("a", 59_999)).toEqual({ count: 2, endsAt: 60_000 });
  expect(counts.add("a", 60_000)).toEqual({ count: 1, endsAt: 120_000 });
  expect(counts.add("b", 60_000)).toEqual({ count: 2, endsAt: 65_000 });
});

test("a window does not move while its caller goes on asking", () => {
  const counts = new RequestCounts(WINDOW_MS, 10);
  for (let second = 0; second < 60; second++) {
    expect(counts.add("a", second * 1_000)).toEqual({ count: second + 1, endsAt: 60_000 });
  }
});

test("no more callers are counted than there is room for, however many ask", () => {
  const counts = new RequestCounts(WINDOW_MS, 100);
  for (let i = 0; i < 10_000; i++) {
    counts.add(`caller ${i}`, i);
    expect(counts.size).toBeLessThanOrEqual(100);
  }
  expect(counts.size).toBe(100);
});

test("the caller that gives way is the one whose window ends first", () => {
  const counts = new RequestCounts(WINDOW_MS, 2);
  counts.add("a", 0);
  counts.add("b", 1);
  counts.add("a", 2);
  counts.add("c", 3);
  expect(counts.add("b", 4).count).toBe(2);
  expect(counts.add("c", 4).count).toBe(2);
  expect(counts.add("a", 4).count).toBe(1);
});

test("a caller that begins anew gives way to nobody who began before", () => {
  const counts = new RequestCounts(WINDOW_MS, 2);
  counts.add("a", 0);
  counts.add("b", 30_000);
  counts.add("a", 60_000);
  counts.add("c", 70_000);
  expect(counts.add("a", 70_001).count).toBe(2);
});

test("windows that have ended are forgotten with the next caller", () => {
  const counts = new RequestCounts(WINDOW_MS, 1_000);
  for (let i = 0; i < 500; i++) counts.add(`caller ${i}`, i);
  counts.add("late", 60_249);
  expect(counts.size).toBe(251);
  counts.add("later", 200_000);
  expect(counts.size).toBe(1);
});
