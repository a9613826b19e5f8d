import { expect, test } from "vitest";
import { runPlan } from "../src/run-plan.js";

const plan = { seed: 1, minutes: 4, only: null };

test("providers never sign two contents for one round on machines that fail in every way, and a seed replays", async () => {
  const { violations, counts, hash } = await runPlan(plan, { providers: true });
  expect(violations).toEqual([]);
  expect(counts["answer: 200"]).toBeGreaterThan(200);
  // Garbage is collected at other moments on a busy machine: here far more often.
  const often = await runPlan(plan, { providers: true, node: ["--gc-global", "--max-semi-space-size=8"] });
  expect(often.hash).toBe(hash);
});
