import { expect, test } from "vitest";
import { runPlan } from "../src/run-plan.js";

test("providers never sign two contents for one round on machines that fail in every way", async () => {
  const { violations, counts } = await runPlan({ seed: 1, minutes: 5, only: null }, { providers: true });
  expect(violations).toEqual([]);
  expect(counts["answer: 200"]).toBeGreaterThan(200);
});
