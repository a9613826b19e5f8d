import { describe, expect, it } from "vitest";
import { TokenBucket } from "./token-bucket.js";

const LIMIT = { perSecond: 10, burst: 4 };

/** How many requests in a row may be made without a wait. */
function atOnce(bucket: TokenBucket, isReserved: boolean, now: number): number {
  for (let count = 0; ; ++count) {
    const turn = bucket.take(isReserved, now);
    if (!turn.ok || turn.value > 0) return count;
  }
}

describe("a token bucket", () => {
  it("lets a burst pass at once, and then as much as flows in", () => {
    const bucket = new TokenBucket(LIMIT, true, 0);
    expect(atOnce(bucket, false, 0)).toBe(2);
    expect(atOnce(bucket, false, 99)).toBe(0);
    expect(atOnce(bucket, false, 200)).toBe(2);
    expect(atOnce(bucket, false, 3_600_000)).toBe(2);
  });

  it("keeps its second half, and what flows in, for those that it is reserved for", () => {
    const bucket = new TokenBucket(LIMIT, true, 0);
    atOnce(bucket, false, 0);
    expect(bucket.take(false, 0)).toEqual({ ok: false, error: 100 });
    expect(bucket.take(true, 0)).toEqual({ ok: true, value: 0 });
    expect(bucket.take(true, 0)).toEqual({ ok: true, value: 0 });
    expect(bucket.take(true, 0)).toEqual({ ok: true, value: 100 });
    expect(bucket.take(false, 100)).toEqual({ ok: false, error: 300 });
  });

  it("never makes a caller wait longer than a second and a half", () => {
    const bucket = new TokenBucket(LIMIT, false, 0);
    const turns = Array.from({ length: 29 }, () => bucket.take(true, 0));
    expect(turns.filter(({ ok }) => ok)).toHaveLength(4 + 15);
    expect(turns.at(-1)).toEqual({ ok: false, error: 1_600 });
  });

  it("without a reserve is the same for everybody", () => {
    const bucket = new TokenBucket(LIMIT, false, 0);
    expect(atOnce(bucket, false, 0)).toBe(4);
    expect(bucket.take(false, 0)).toMatchObject({ ok: true });
  });
});
