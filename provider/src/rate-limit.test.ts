import { describe, expect, it } from "vitest";
import { TokenBucket } from "./rate-limit.js";

const LIMIT = { perSecond: 10, burst: 4 };

/** How many requests in a row may be made without a wait. */
function atOnce(rate: TokenBucket, mayUseReserve: boolean, now: number): number {
  for (let count = 0; ; ++count) {
    const turn = rate.take(mayUseReserve, now);
    if (!turn.ok || turn.value > 0) return count;
  }
}

describe("the rate of requests", () => {
  it("lets a burst pass at once, and then as much as flows in", () => {
    const rate = new TokenBucket(LIMIT, true);
    expect(atOnce(rate, false, 0)).toBe(2);
    expect(atOnce(rate, false, 99)).toBe(0);
    expect(atOnce(rate, false, 200)).toBe(2);
    expect(atOnce(rate, false, 3_600_000)).toBe(2);
  });

  it("keeps its second half, and what flows in, for those that it is reserved for", () => {
    const rate = new TokenBucket(LIMIT, true);
    atOnce(rate, false, 0);
    expect(rate.take(false, 0)).toEqual({ ok: false, error: 100 });
    expect(rate.take(true, 0)).toEqual({ ok: true, value: 0 });
    expect(rate.take(true, 0)).toEqual({ ok: true, value: 0 });
    expect(rate.take(true, 0)).toEqual({ ok: true, value: 100 });
    expect(rate.take(false, 100)).toEqual({ ok: false, error: 300 });
  });

  it("never makes a caller wait longer than a second and a half", () => {
    const rate = new TokenBucket(LIMIT, false);
    const turns = Array.from({ length: 29 }, () => rate.take(true, 0));
    expect(turns.filter(({ ok }) => ok)).toHaveLength(4 + 15);
    expect(turns.at(-1)).toEqual({ ok: false, error: 1_600 });
  });
});
