import { expect, it } from "vitest";
import { judgeWindow, MAX_BEHIND } from "./signing-window.js";

it("takes rounds from 5 s behind the clock to 2 s ahead of it, both included", () => {
  const verdicts = [-6n, -5n, 0n, 2n, 3n].map((age) => judgeWindow(1_000n + age, 1_000n, MAX_BEHIND));
  expect(verdicts).toEqual(["too_old", "in_window", "in_window", "in_window", "in_future"]);
});
