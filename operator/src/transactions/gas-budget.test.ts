import { describe, expect, test } from "vitest";
import { FeedGasSpent, GasBudget } from "./gas-budget.js";

const HOUR = 3_600_000;

/** Whether a budget has room for this gas, which it then reserves. */
const has = (budget: GasBudget, gas: bigint, at = 0, payer?: string) => budget.reserve(gas, at, payer).ok;

describe("a gas budget", () => {
  test("is spent to the last unit, and not beyond", () => {
    const budget = new GasBudget(100n);
    expect([60n, 40n, 1n].map((gas) => has(budget, gas))).toEqual([true, true, false]);
  });

  test("comes back an hour after it was spent, and says when enough is free again", () => {
    const budget = new GasBudget(100n);
    budget.reserve(60n, 0);
    budget.reserve(40n, 1_800_000);
    for (const [gas, retryAfterSeconds] of [
      [60n, 1_800],
      [70n, 3_600],
      [101n, 3_600],
    ] as const) {
      expect(budget.reserve(gas, 1_800_000)).toMatchObject({ ok: false, retryAfterSeconds });
    }
    expect([HOUR - 1, HOUR, HOUR].map((at) => has(budget, 50n, at))).toEqual([false, true, false]);
  });

  test("takes back what was not sent, once", () => {
    const budget = new GasBudget(100n);
    const first = budget.reserve(100n, 0);
    if (!first.ok) throw new Error("An empty budget has room.");
    first.release();
    first.release();
    expect([100n, 1n].map((gas) => has(budget, gas))).toEqual([true, false]);
  });
});

test("one caller can spend only its share, and the others the rest", () => {
  const budget = new GasBudget(100n, 25);
  expect(has(budget, 25n, 0, "b")).toBe(true);
  expect([has(budget, 20n, 1_000, "a"), has(budget, 5n, 2_000, "a")]).toEqual([true, true]);
  expect(budget.reserve(1n, 2_000, "a")).toEqual({ ok: false, isShareSpent: true, retryAfterSeconds: 3_599 });
  for (const caller of ["c", "d"]) expect(has(budget, 25n, 2_000, caller)).toBe(true);
  expect(budget.reserve(1n, 2_000, "e")).toMatchObject({ ok: false, isShareSpent: false });
  expect(has(budget, 20n, HOUR + 1_000, "a")).toBe(true);
});

test("a transaction that needs more than a share is allowed once", () => {
  const budget = new GasBudget(100n, 25);
  expect(has(budget, 60n, 0, "a")).toBe(true);
  expect(budget.reserve(10n, 0, "a")).toMatchObject({ ok: false, isShareSpent: true });
  expect(has(budget, 40n, 0, "b")).toBe(true);
});

test("a caller whose transaction was not sent has used nothing", () => {
  const budget = new GasBudget(100n, 25);
  const sent = budget.reserve(20n, 0, "a");
  const first = budget.reserve(5n, 0, "a");
  if (!sent.ok || !first.ok) throw new Error("An empty budget has room.");
  first.release();
  expect([6n, 5n].map((gas) => has(budget, gas, 0, "a"))).toEqual([false, true]);
  sent.release();
  expect(budget.usedRatio(0)).toBe(0.05);
  const whole = new GasBudget(100n, 25);
  const large = whole.reserve(60n, 0, "a");
  if (large.ok) large.release();
  expect(has(whole, 60n, 0, "a")).toBe(true);
});

test("the share of a feed is the whole budget", () => {
  const budget = new GasBudget(100n, 25);
  for (const gas of [30n, 30n, 40n]) expect(has(budget, gas)).toBe(true);
  expect(budget.reserve(1n, 0)).toMatchObject({ isShareSpent: false });
});

test("a wait is a second at least, and rounded up", () => {
  const budget = new GasBudget(100n);
  budget.reserve(100n, 1);
  expect(budget.reserve(1n, HOUR)).toMatchObject({ retryAfterSeconds: 1 });
  expect(budget.reserve(1n, HOUR - 1_000)).toMatchObject({ retryAfterSeconds: 2 });
  expect(new FeedGasSpent(2).message).toContain("in 2 s.");
});

test("the used part of a budget counts what is reserved in an hour, and is 0 for a budget of nothing", () => {
  const budget = new GasBudget(100n);
  expect(budget.usedRatio(0)).toBe(0);
  budget.reserve(60n, 0);
  budget.reserve(20n, HOUR / 2);
  expect([budget.usedRatio(HOUR - 1), budget.usedRatio(HOUR), budget.usedRatio(2 * HOUR)]).toEqual([0.8, 0.2, 0]);
  expect(new GasBudget(0n).usedRatio(0)).toBe(0);
});
