import { describe, expect, test } from "vitest";
import { FeedGasSpent, GasBudget } from "./gas-budget.js";

const HOUR = 3_600_000;

describe("a gas budget", () => {
  test("is spent to the last unit, and not beyond", () => {
    const budget = new GasBudget(100n);
    expect(budget.reserve(60n, 0).ok).toBe(true);
    expect(budget.reserve(40n, 0).ok).toBe(true);
    expect(budget.reserve(1n, 0).ok).toBe(false);
  });

  test("comes back an hour after it was spent", () => {
    const budget = new GasBudget(100n);
    budget.reserve(60n, 0);
    budget.reserve(40n, 1_800_000);
    expect(budget.reserve(50n, HOUR - 1).ok).toBe(false);
    expect(budget.reserve(50n, HOUR).ok).toBe(true);
    expect(budget.reserve(50n, HOUR).ok).toBe(false);
  });

  test("says when enough is free again", () => {
    const budget = new GasBudget(100n);
    budget.reserve(60n, 0);
    budget.reserve(40n, 1_800_000);
    expect(budget.reserve(60n, 1_800_000)).toMatchObject({ ok: false, retryAfterSeconds: 1_800 });
    expect(budget.reserve(70n, 1_800_000)).toMatchObject({ ok: false, retryAfterSeconds: 3_600 });
    expect(budget.reserve(101n, 1_800_000)).toMatchObject({ ok: false, retryAfterSeconds: 3_600 });
  });

  test("takes back what was not sent, once", () => {
    const budget = new GasBudget(100n);
    const first = budget.reserve(100n, 0);
    if (!first.ok) throw new Error("An empty budget has room.");
    first.release();
    first.release();
    expect(budget.reserve(100n, 0).ok).toBe(true);
    expect(budget.reserve(1n, 0).ok).toBe(false);
  });
});

test("one caller can spend only its share, and the others the rest", () => {
  const budget = new GasBudget(100n, 25);
  const spend = (payer: string, gas: bigint, at = 0) => budget.reserve(gas, at, payer);
  expect(spend("b", 25n).ok).toBe(true);
  expect(spend("a", 20n, 1_000).ok).toBe(true);
  expect(spend("a", 5n, 2_000).ok).toBe(true);
  expect(spend("a", 1n, 2_000)).toEqual({ ok: false, isShareSpent: true, retryAfterSeconds: 3_599 });
  for (const caller of ["c", "d"]) expect(spend(caller, 25n, 2_000).ok).toBe(true);
  expect(spend("e", 1n, 2_000)).toMatchObject({ ok: false, isShareSpent: false });
  expect(spend("a", 20n, HOUR + 1_000).ok).toBe(true);
});

test("a transaction that needs more than a share is allowed once", () => {
  const budget = new GasBudget(100n, 25);
  expect(budget.reserve(60n, 0, "a").ok).toBe(true);
  expect(budget.reserve(10n, 0, "a")).toMatchObject({ ok: false, isShareSpent: true });
  expect(budget.reserve(40n, 0, "b").ok).toBe(true);
});

test("a caller whose transaction was not sent has used nothing", () => {
  const budget = new GasBudget(100n, 25);
  const sent = budget.reserve(20n, 0, "a");
  const first = budget.reserve(5n, 0, "a");
  if (!sent.ok || !first.ok) throw new Error("An empty budget has room.");
  first.release();
  expect(budget.reserve(6n, 0, "a").ok).toBe(false);
  expect(budget.reserve(5n, 0, "a").ok).toBe(true);
  sent.release();
  expect(budget.usedRatio(0)).toBe(0.05);
  const whole = new GasBudget(100n, 25);
  const large = whole.reserve(60n, 0, "a");
  if (large.ok) large.release();
  expect(whole.reserve(60n, 0, "a").ok).toBe(true);
});

test("the share of a feed is the whole budget", () => {
  const budget = new GasBudget(100n, 25);
  for (const gas of [30n, 30n, 40n]) expect(budget.reserve(gas, 0).ok).toBe(true);
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
