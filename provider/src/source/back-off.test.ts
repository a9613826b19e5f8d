import { describe, expect, it } from "vitest";
import { BackOff } from "./back-off.js";

const BOUNDS = { firstMs: 10_000, maxMs: 60_000 };

/** Fails this many times, each as soon as an attempt may be made, and returns the waits. */
function waitsOf(backOff: BackOff, failures: number): number[] {
  const waits: number[] = [];
  let now = 0;
  for (let i = 0; i < failures; ++i) {
    backOff.fail(now, now);
    waits.push(backOff.waitMs(now));
    now += backOff.waitMs(now);
  }
  return waits;
}

describe("a back-off", () => {
  it("is longer by up to a half at random, and never shorter", () => {
    expect(waitsOf(new BackOff(BOUNDS, () => 0.5), 2)).toEqual([12_500, 25_000]);
    for (const wait of waitsOf(new BackOff(BOUNDS), 100)) {
      expect(wait).toBeGreaterThanOrEqual(10_000);
      expect(wait).toBeLessThan(90_000);
    }
  });

  it("counts all attempts under way when it began as one failure, but waits as long as any of them asks", () => {
    const backOff = new BackOff(BOUNDS, () => 0);
    for (const startedAt of [0, 1, 2]) backOff.fail(startedAt, 100);
    expect(backOff.waitMs(100)).toBe(10_000);
    backOff.fail(3, 200, 15_000);
    expect(backOff.waitMs(200)).toBe(15_000);
  });

  it("is not ended by an attempt that was under way when it began", () => {
    const backOff = new BackOff(BOUNDS, () => 0);
    backOff.fail(0, 0);
    expect(backOff.isEndedBy(0)).toBe(false);
    expect(backOff.isEndedBy(10_000)).toBe(true);
  });

  it("lets one attempt pass after the wait, and the others only when its outcome is lost", () => {
    const backOff = new BackOff(BOUNDS, () => 0);
    backOff.fail(0, 0);
    expect(backOff.waitMs(10_000)).toBe(0);
    backOff.begin(10_000, 5_000);
    expect(backOff.waitMs(10_001)).toBe(4_999);
    expect(backOff.waitMs(15_000)).toBe(0);
    backOff.fail(10_000, 10_500);
    expect(backOff.waitMs(10_500)).toBe(20_000);
  });
});
