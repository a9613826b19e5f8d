import { err, ok } from "@dataset-oracle/protocol/result";
import { describe, expect, test } from "vitest";
import { RequestBackOffs } from "./back-off.js";
import type { FailureCode } from "./source-failure.js";

const DEADLINE_MS = 5_000;
const ORIGIN = "https://a.example";

/** The back-offs of requests to one origin. The shortest waits after a time-out are 1, 2, 4 s, and so on. */
function open(random: () => number = () => 1) {
  const backOffs = new RequestBackOffs(DEADLINE_MS, random);
  const record = (reading: Parameters<typeof backOffs.record>[1], startedAt: number, now: number, id = "request") =>
    backOffs.record([ORIGIN, id], reading, startedAt, now);
  const refusal = (now: number, id: string | null = "request") => backOffs.refusal(ORIGIN, id, now);
  return {
    fail: (startedAt: number, now: number, retryAfter?: number, code: FailureCode = "timeout", id?: string) =>
      record(err({ code, detail: "", ...(retryAfter !== undefined && { retryAfter }) }), startedAt, now, id),
    succeed: (startedAt: number, now: number) => record(ok(1), startedAt, now).change,
    begin: (now: number) => backOffs.begin(ORIGIN, "request", now),
    refusal,
    /** How long the request is refused, in seconds, rounded up. */
    wait: (now: number) => Number(/another (\d+) s/.exec(refusal(now)?.detail ?? "")?.[1] ?? 0),
  };
}

describe("a back-off", () => {
  test.each<[code: FailureCode, retryAfter: number | undefined, times: number[]]>([
    ["timeout", undefined, [0, 1, 3, 7, 15, 31, 63, 123, 183, 243, 303, 363, 423, 483, 543, 603]],
    ["throttled", undefined, [0, 10, 30, 70, 150, 310, 610]],
    ["throttled", 45, [0, 45, 90, 135, 215, 375]],
  ])("after %s, with the Retry-After %s, doubles up to its bound, and is as long as the source asks", (...row) => {
    const [code, retryAfter, times] = row;
    const backOff = open();
    const asked: number[] = [];
    for (let second = 0; second < 620; second++) {
      const now = second * 1_000;
      if (backOff.wait(now) > 0) continue;
      asked.push(second);
      backOff.begin(now);
      const { reading, change } = backOff.fail(now, now, retryAfter, code);
      expect(change).toBe(second === 0 ? "started" : null);
      expect(!reading.ok && reading.error.retryAfter !== undefined).toBe(code === "throttled");
    }
    expect(asked).toEqual(times);
  });

  test("after a rate limit is the whole origin's, and after another failure the request's alone", () => {
    const limited = open();
    limited.fail(0, 0, undefined, "throttled");
    const seconds = (id: string | null) => limited.refusal(0, id)?.retryAfter;
    expect(["request", "another", null].map(seconds)).toEqual([10, 10, 10]);
    const failing = open();
    failing.fail(0, 0);
    expect(["request", "another", null].map((id) => failing.refusal(0, id)?.code)).toEqual([
      "timeout",
      undefined,
      undefined,
    ]);
  });

  test("is up to twice as long at random, and never shorter", () => {
    const halfway = open(() => 0.5);
    halfway.fail(0, 0);
    expect([1_499, 1_500].map(halfway.wait)).toEqual([1, 0]);
    halfway.fail(1_500, 1_500);
    expect([4_499, 4_500].map(halfway.wait)).toEqual([1, 0]);
  });

  test("counts all attempts under way when it began as one failure, but waits as long as any of them asks", () => {
    const backOff = open();
    const changes = [0, 1, 2].map((startedAt) => backOff.fail(startedAt, 100).change);
    expect(changes).toEqual(["started", null, null]);
    expect(backOff.wait(100)).toBe(1);
    backOff.fail(3, 200, 15);
    expect(backOff.wait(200)).toBe(15);
  });

  test("is not ended by an attempt that was under way when it began, and starts anew after it has ended", () => {
    const backOff = open();
    backOff.fail(0, 0);
    expect(backOff.succeed(0, 500)).toBeNull();
    expect(backOff.wait(500)).toBe(1);
    expect(backOff.succeed(1_000, 1_000)).toBe("ended");
    expect(backOff.wait(500)).toBe(0);
    expect([backOff.fail(2_000, 2_000).change, backOff.wait(2_000)]).toEqual(["started", 1]);
  });

  test("lets one attempt pass after the wait, and the others only when its outcome is lost", () => {
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
