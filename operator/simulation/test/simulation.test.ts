import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { expect, test } from "vitest";
import { MUTANTS, plant, TESTED_MUTANTS } from "../src/mutants.js";
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

test.each([...MUTANTS, ...TESTED_MUTANTS])(
  "the product still has the place where a fault is planted: $fault",
  (mutant) => {
    const text = readFileSync(join(ROOT, mutant.file), "utf8");
    expect(plant(mutant, text)).not.toBe(text);
  },
);

test.each(TESTED_MUTANTS)("a test can find what the simulation cannot: $fault", ({ test: file, why }) => {
  expect(existsSync(join(ROOT, file))).toBe(true);
  expect(why).not.toBe("");
});
