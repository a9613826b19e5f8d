import fc from "fast-check";
import { expect, test } from "vitest";
import { beatAt, roundAt, roundStartMs } from "./beat.js";

test("a beat's round is the newest multiple of the beat that lies two seconds in the past", () => {
  expect(beatAt(1_000_001_999, 5)).toBe(999_995n);
  expect(beatAt(1_000_002_000, 5)).toBe(1_000_000n);
  expect(beatAt(1_000_006_999, 5)).toBe(1_000_000n);
});

test("a beat lasts from the start of its round to the start of the next one", () => {
  const times = fc.integer({ min: 1_700_000_000_000, max: 1_900_000_000_000 });
  fc.assert(
    fc.property(times, fc.integer({ min: 1, max: 60 }), (nowMs, beatSeconds) => {
      const round = beatAt(nowMs, beatSeconds);
      const nextMs = roundStartMs(round + BigInt(beatSeconds));
      expect(nowMs).toBeGreaterThanOrEqual(roundStartMs(round));
      expect(nowMs).toBeLessThan(nextMs);
      expect(beatAt(nextMs - 1, beatSeconds)).toBe(round);
      expect(beatAt(nextMs, beatSeconds)).toBe(round + BigInt(beatSeconds));
    }),
  );
});

test("a round is the whole second two seconds before the clock, and begins exactly at its start", () => {
  const rounds = [0, 999, 1_000].map((ms) => roundAt(1_700_000_000_000 + ms));
  expect(rounds).toEqual([1_699_999_998n, 1_699_999_998n, 1_699_999_999n]);
  const round = roundAt(1_700_000_000_300);
  expect([roundAt(roundStartMs(round)), roundAt(roundStartMs(round) - 1)]).toEqual([round, round - 1n]);
});
