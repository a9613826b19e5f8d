import { expect, test } from "vitest";
import { msUntilRoundAfter, roundAt } from "./beat.js";

test("a round is the whole second two seconds before the clock", () => {
  expect(roundAt(1_700_000_000_000)).toBe(1_699_999_998n);
  expect(roundAt(1_700_000_000_999)).toBe(1_699_999_998n);
  expect(roundAt(1_700_000_001_000)).toBe(1_699_999_999n);
});

test("the wait for a newer round ends exactly when there is one", () => {
  const now = 1_700_000_000_300;
  const round = roundAt(now);
  const wait = msUntilRoundAfter(round, now);
  expect(roundAt(now + wait)).toBe(round + 1n);
  expect(roundAt(now + wait - 1)).toBe(round);
  expect(msUntilRoundAfter(round - 5n, now)).toBe(0);
});
