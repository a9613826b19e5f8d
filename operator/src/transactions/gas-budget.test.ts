import { clockOf } from "@dataset-oracle/tools/clock-of";
import { beforeEach, describe, expect, test } from "vitest";
import { GasBudget, type GasCharge } from "./gas-budget.js";

const HOUR = 3_600_000;

let now: number;

beforeEach(() => {
  now = 0;
});

const budgetOf = (perHour: bigint, percentPerCaller = 100) =>
  new GasBudget(
    clockOf(() => now),
    { perHour, percentPerCaller },
  );

/** What a budget says of a task at a time. */
function admit(budget: GasBudget, gas: bigint, at = 0, payer?: string) {
  now = at;
  return budget.admit(gas, payer);
}

/** Whether a budget has room for this gas, which it then reserves. */
const has = (budget: GasBudget, gas: bigint, at = 0, payer?: string) => admit(budget, gas, at, payer).ok;

function charged(budget: GasBudget, gas: bigint, payer?: string): GasCharge {
  const admitted = budget.admit(gas, payer);
  if (!admitted.ok) throw new Error("The budget has room.");
  return admitted.charge;
}

describe("a gas budget", () => {
  test("is spent to the last unit, and not beyond", () => {
    const budget = budgetOf(100n);
    expect([60n, 40n, 1n].map((gas) => has(budget, gas))).toEqual([true, true, false]);
  });

  test("comes back an hour after it was spent, and says when enough is free again", () => {
    const budget = budgetOf(100n);
    admit(budget, 60n, 0);
    admit(budget, 40n, 1_800_000);
    for (const [gas, retryAfterSeconds] of [
      [60n, 1_800],
      [70n, 3_600],
      [101n, 3_600],
    ] as const) {
      expect(admit(budget, gas, 1_800_000)).toMatchObject({ ok: false, retryAfterSeconds });
    }
    expect([HOUR - 1, HOUR, HOUR].map((at) => has(budget, 50n, at))).toEqual([false, true, false]);
  });

  test("takes back what was not sent, once", () => {
    const budget = budgetOf(100n);
    const first = charged(budget, 100n);
    first.settle(0n);
    first.settle(0n);
    expect([100n, 1n].map((gas) => has(budget, gas))).toEqual([true, false]);
  });
});

describe("what a budget pays for one task", () => {
  test("is what is expected, then what is known, then what was used, for each nonce", () => {
    const budget = budgetOf(100n);
    const charge = charged(budget, 10n);
    expect(charge.confirm(30n)).toBeNull();
    // Its replacement can use less, but it can still be mined itself.
    charge.hold(40n);
    charge.hold(20n);
    expect(budget.usedRatio).toBe(0.4);
    charge.settle(15n);
    expect(budget.usedRatio).toBe(0.15);
    // It reverted, and is sent again.
    charge.hold(30n);
    expect(budget.usedRatio).toBe(0.45);
    charge.settle(30n);
    now = HOUR - 1;
    expect(has(budget, 56n, now)).toBe(false);
    expect(has(budget, 55n, now)).toBe(true);
  });

  test("is refused if more is needed than was expected and the rest is too little; then nothing is reserved", () => {
    const budget = budgetOf(100n, 50);
    const one = charged(budget, 1n, "a");
    expect(one.confirm(60n)).toBeNull();
    const two = charged(budget, 1n, "b");
    expect(two.confirm(41n)).toEqual({ ok: false, isShareSpent: false, retryAfterSeconds: 3_600 });
    expect(budget.usedRatio).toBe(0.6);
  });

  test("goes into debt once the task is admitted, and the debt delays only what comes next", () => {
    const budget = budgetOf(100n);
    const charge = charged(budget, 90n);
    for (let nonce = 0; nonce < 3; nonce++) {
      charge.hold(90n);
      charge.settle(90n);
    }
    expect(budget.usedRatio).toBe(2.7);
    expect(admit(budget, 1n, 1_000)).toMatchObject({ ok: false, retryAfterSeconds: 3_599 });
    expect(has(budget, 100n, HOUR)).toBe(true);
  });

  test("is never more than it could use, whatever a node says that it has used", () => {
    const budget = budgetOf(100n);
    const charge = charged(budget, 10n);
    charge.settle(2n ** 60n);
    expect(budget.usedRatio).toBe(0.1);
    charge.hold(30n);
    charge.settle(2n ** 60n);
    expect(budget.usedRatio).toBe(0.4);
  });

  test("of an earlier process is charged without being asked", () => {
    const budget = budgetOf(100n);
    budget.open().hold(150n);
    expect(budget.usedRatio).toBe(1.5);
    expect(has(budget, 1n)).toBe(false);
  });

  test("counts anew where it is known only after an hour", () => {
    const budget = budgetOf(100n);
    const charge = charged(budget, 50n);
    now = HOUR;
    expect(budget.usedRatio).toBe(0);
    charge.settle(40n);
    expect(budget.usedRatio).toBe(0.4);
  });
});

test("one caller can spend only its share, and the others the rest", () => {
  const budget = budgetOf(100n, 25);
  expect(has(budget, 25n, 0, "b")).toBe(true);
  expect([has(budget, 20n, 1_000, "a"), has(budget, 5n, 2_000, "a")]).toEqual([true, true]);
  expect(admit(budget, 1n, 2_000, "a")).toEqual({ ok: false, isShareSpent: true, retryAfterSeconds: 3_599 });
  for (const caller of ["c", "d"]) expect(has(budget, 25n, 2_000, caller)).toBe(true);
  expect(admit(budget, 1n, 2_000, "e")).toMatchObject({ ok: false, isShareSpent: false });
  expect(has(budget, 20n, HOUR + 1_000, "a")).toBe(true);
});

test("a transaction that needs more than a share is allowed once", () => {
  const budget = budgetOf(100n, 25);
  expect(has(budget, 60n, 0, "a")).toBe(true);
  expect(admit(budget, 10n, 0, "a")).toMatchObject({ ok: false, isShareSpent: true });
  expect(has(budget, 40n, 0, "b")).toBe(true);
});

test("a caller whose transaction was not sent has used nothing", () => {
  const budget = budgetOf(100n, 25);
  const sent = charged(budget, 20n, "a");
  charged(budget, 5n, "a").settle(0n);
  expect([6n, 5n].map((gas) => has(budget, gas, 0, "a"))).toEqual([false, true]);
  sent.settle(0n);
  expect(budget.usedRatio).toBe(0.05);
  const whole = budgetOf(100n, 25);
  charged(whole, 60n, "a").settle(0n);
  expect(has(whole, 60n, 0, "a")).toBe(true);
});

test("the share of a feed is the whole budget", () => {
  const budget = budgetOf(100n, 25);
  for (const gas of [30n, 30n, 40n]) expect(has(budget, gas)).toBe(true);
  expect(admit(budget, 1n)).toMatchObject({ isShareSpent: false });
});

test("a wait is a second at least, and rounded up", () => {
  const budget = budgetOf(100n);
  admit(budget, 100n, 1);
  expect(admit(budget, 1n, HOUR)).toMatchObject({ retryAfterSeconds: 1 });
  expect(admit(budget, 1n, HOUR - 1_000)).toMatchObject({ retryAfterSeconds: 2 });
});

test("the used part of a budget counts what is reserved in an hour, and is 0 for a budget of nothing", () => {
  const budget = budgetOf(100n);
  const ratioAt = (at: number) => {
    now = at;
    return budget.usedRatio;
  };
  expect(ratioAt(0)).toBe(0);
  admit(budget, 60n, 0);
  admit(budget, 20n, HOUR / 2);
  expect([ratioAt(HOUR - 1), ratioAt(HOUR), ratioAt(2 * HOUR)]).toEqual([0.8, 0.2, 0]);
  expect(budgetOf(0n).usedRatio).toBe(0);
  expect(has(budgetOf(0n), 1n)).toBe(false);
});
