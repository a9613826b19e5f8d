import { expect, test } from "vitest";
import { runPlan } from "../src/run-plan.js";

const plan = { seed: 1, minutes: 4, only: null };

test("providers sign one content for a round on machines that fail, an operator stores it, and a seed replays", async () => {
  const { violations, counts, hash } = await runPlan(plan, { providers: true });
  expect(violations).toEqual([]);
  expect(counts["answer: 200"]).toBeGreaterThan(200);
  // What the operator asks for by itself, and stores.
  expect(counts["signed for an operator"]).toBeGreaterThan(100);
  expect(counts["rounds stored"]).toBeGreaterThan(20);
  // Only then must feeds be fresh.
  expect(counts["calm blocks"]).toBeGreaterThan(10);
  // Garbage is collected at other moments on a busy machine: here far more often.
  const often = await runPlan(plan, { providers: true, node: ["--gc-global", "--max-semi-space-size=8"] });
  expect(often.hash).toBe(hash);
});
