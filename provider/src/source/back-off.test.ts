import { err, ok } from "@dataset-oracle/protocol/result";
import { describe, expect, it } from "vitest";
import { RequestBackOffs } from "./back-off.js";

const DEADLINE_MS = 5_000;

/** The back-off of one request that times out. Without jitter, its waits are 1, 2, 4 s, and so on. */
function open(random: () => number = () => 0) {
  const backOffs = new RequestBackOffs(DEADLINE_MS, random);
  const keys = ["https://a.example", "request"] as const;
  const record = (reading: Parameters<typeof backOffs.record>[1], startedAt: number, now: number) =>
    backOffs.record(keys, reading, startedAt, now).change;
  return {
    fail: (startedAt: number, now: number, retryAfter?: number) =>
      record(err({ code: "timeout", detail: "", ...(retryAfter !== undefined && { retryAfter }) }), startedAt, now),
    succeed: (startedAt: number, now: number) => record(ok(1), startedAt, now),
    begin: (now: number) => backOffs.begin(...keys, now),
    /** How long the request is refused, in seconds, rounded up. */
    wait: (now: number) => Number(/another (\d+) s/.exec(backOffs.refusal(...keys, now)?.detail ?? "")?.[1] ?? 0),
  };
}

describe("a back-off", () => {
  it("is longer by up to a half at random, and never shorter", () => {
    const halfway = open(() => 0.5);
    halfway.fail(0, 0);
    expect([1_249, 1_250].map(halfway.wait)).toEqual([1, 0]);
    halfway.fail(1_250, 1_250);
    expect([3_749, 3_750].map(halfway.wait)).toEqual([1, 0]);
    for (let i = 0; i < 100; ++i) {
      const backOff = open(Math.random);
      backOff.fail(0, 0);
      expect(backOff.wait(999)).toBe(1);
      expect(backOff.wait(1_500)).toBe(0);
    }
  });

  it("counts all attempts under way when it began as one failure, but waits as long as any of them asks", () => {
    const backOff = open();
    expect([0, 1, 2].map((startedAt) => backOff.fail(startedAt, 100))).toEqual(["started", null, null]);
    expect(backOff.wait(100)).toBe(1);
    backOff.fail(3, 200, 15);
    expect(backOff.wait(200)).toBe(15);
  });

  it("is not ended by an attempt that was under way when it began", () => {
    const backOff = open();
    backOff.fail(0, 0);
    expect(backOff.succeed(0, 500)).toBeNull();
    expect(backOff.wait(500)).toBe(1);
    expect(backOff.succeed(1_000, 1_000)).toBe("ended");
    expect(backOff.wait(500)).toBe(0);
  });

  it("lets one attempt pass after the wait, and the others only when its outcome is lost", () => {
    const backOff = open();
    backOff.fail(0, 0);
    expect(backOff.wait(1_000)).toBe(0);
    backOff.begin(1_000);
    expect(backOff.wait(1_001)).toBe(5);
    expect(backOff.wait(6_000)).toBe(0);
    backOff.fail(1_000, 1_500);
    expect(backOff.wait(1_500)).toBe(2);
  });
});
