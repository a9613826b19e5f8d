import { expect, test } from "vitest";
import { runPlan } from "../src/run-plan.js";

const run = (seed: number, only: string | null) => runPlan({ seed, minutes: 5, only }, { providers: true });

test("providers never sign two contents for one round on machines that fail in every way, and a seed replays exactly", async () => {
  const { violations, counts, hash } = await run(1, null);
  expect(violations).toEqual([]);
  expect(counts["answer: 200"]).toBeGreaterThan(200);
  expect((await run(1, null)).hash).toBe(hash);
});
