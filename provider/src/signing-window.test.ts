import { expect, it } from "vitest";
import { comparedToWindow, MAX_ROUND_AGE } from "./signing-window.js";

it("takes rounds from 5 s behind the clock to 2 s ahead of it, both included", () => {
  const positions = [-6n, -5n, 0n, 2n, 3n].map((age) => comparedToWindow(1_000n + age, 1_000n, MAX_ROUND_AGE));
  expect(positions).toEqual(["too_old", "in_window", "in_window", "in_window", "in_future"]);
});
