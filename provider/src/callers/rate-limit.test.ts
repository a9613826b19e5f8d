import { SYSTEM_CLOCK } from "@dataset-oracle/service/process/context";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { SharedRate, TokenBucket } from "./rate-limit.js";

const LIMIT = { perSecond: 10, burst: 4 };

/** How many requests in a row may be made without a wait. */
function atOnce(rate: TokenBucket, now: number): number {
  for (let count = 0; ; ++count) {
    const turn = rate.take(now);
    if (!turn.ok || turn.value > 0) return count;
  }
}

describe("the rate of requests", () => {
  test("lets a burst pass at once, and then as much as flows in", () => {
    const rate = new TokenBucket(LIMIT);
    for (let count = 0; count < 4; ++count) expect(rate.take(0)).toEqual({ ok: true, value: 0 });
    expect(rate.waitMs(99)).toBeGreaterThan(0);
    expect(atOnce(rate, 200)).toBe(2);
    expect(atOnce(rate, 3_600_000)).toBe(4);
  });

  test("never makes a caller wait longer than two and a half seconds", () => {
    const rate = new TokenBucket(LIMIT);
    const turns = Array.from({ length: 44 }, () => rate.take(0));
    expect(turns.filter(({ ok }) => ok)).toHaveLength(4 + 25);
    expect(turns.at(-1)).toEqual({ ok: false, error: 2_600 });
  });
});

describe("a rate that operators and anonymous callers share", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Makes requests; each one's outcome and time is listed once it has its turn. */
  function open(limit = LIMIT, hasReserve = true) {
    const rate = new SharedRate({ clock: SYSTEM_CLOCK, closing: new AbortController().signal }, limit, hasReserve);
    const start = performance.now();
    const turns: [caller: string, outcome: "turn" | "none", ms: number][] = [];
    const ask = (caller: "operator" | "anonymous", times = 1) => {
      for (let i = 0; i < times; ++i)
        void rate
          .turn(caller === "operator")
          .then(({ ok }) => turns.push([caller, ok ? "turn" : "none", Math.round(performance.now() - start)]));
    };
    const timesOf = (caller: string, outcome: string) =>
      turns.filter((turn) => turn[0] === caller && turn[1] === outcome).map(([, , ms]) => ms);
    return { rate, ask, timesOf };
  }

  test("gives anonymous callers half of the burst and of what flows in", async () => {
    const { ask, timesOf } = open();
    for (let ms = 0; ms < 10_000; ms += 50) {
      ask("anonymous", 3);
      await vi.advanceTimersByTimeAsync(50);
    }
    const turns = timesOf("anonymous", "turn");
    expect(turns.slice(0, 4)).toEqual([0, 0, 200, 400]);
    expect(turns).toHaveLength(2 + 5 * 10);
  });

  test("leaves the other half of the burst to operators, who then wait for nobody else", async () => {
    const { ask, timesOf } = open();
    ask("anonymous", 20);
    ask("operator", 5);
    await vi.advanceTimersByTimeAsync(0);
    expect([timesOf("anonymous", "turn"), timesOf("operator", "turn")]).toEqual([
      [0, 0],
      [0, 0],
    ]);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(timesOf("operator", "turn")).toEqual([0, 0, 100, 200, 300]);
  });

  test("lets operators pass in front of anonymous callers that wait already", async () => {
    const { ask, timesOf } = open();
    ask("anonymous", 3);
    await vi.advanceTimersByTimeAsync(199);
    ask("operator", 20);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(timesOf("anonymous", "none")).toEqual([200]);
    expect(timesOf("operator", "turn").slice(0, 4)).toEqual([199, 199, 199, 200]);
    expect(timesOf("operator", "turn")).toHaveLength(20);
  });

  test.each([
    ["a burst of 1 that comes back soon", { perSecond: 1, burst: 1 }, [0, 2_000, 4_000]],
    ["no burst of 1 that an operator would wait for", { perSecond: 0.3, burst: 1 }, []],
  ])("gives anonymous callers %s", async (_, limit, expected) => {
    const { ask, timesOf } = open(limit);
    for (let ms = 0; ms < 5_900; ms += 100) {
      ask("anonymous");
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(timesOf("anonymous", "turn")).toEqual(expected);
    ask("operator");
    await vi.advanceTimersByTimeAsync(3_000);
    expect(timesOf("operator", "turn")).toHaveLength(1);
  });

  test("is everybody's where there are no operators", async () => {
    const { ask, timesOf } = open(LIMIT, false);
    ask("anonymous", 5);
    await vi.advanceTimersByTimeAsync(100);
    expect(timesOf("anonymous", "turn")).toEqual([0, 0, 0, 0, 100]);
  });
});
