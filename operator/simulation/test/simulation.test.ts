import { expect, test } from "vitest";
import { runPlan } from "../src/run-plan.js";

/** One seed with a few classes of faults, one with all of them, and one whose operator is alone. */
const SEEDS = [3, 4, 8];
const plan = (seed: number) => ({ seed, minutes: 10, only: null });

test("operators keep what they promise in simulated worlds with faults, and a seed replays exactly", async () => {
  const hashes = new Map<number, string>();
  for (const seed of SEEDS) {
    const { violations, events, hash } = await runPlan(plan(seed));
    expect(violations).toEqual([]);
    expect(events).toBeGreaterThan(1_000);
    hashes.set(seed, hash);
  }
  expect(new Set(hashes.values()).size).toBe(SEEDS.length);
  expect((await runPlan(plan(8))).hash).toBe(hashes.get(8));
});
