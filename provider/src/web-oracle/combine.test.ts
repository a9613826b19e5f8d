import type { Combination } from "@dataset-oracle/protocol/request-spec";
import { ok } from "@dataset-oracle/protocol/result";
import { describe, expect, test } from "vitest";
import { failed, throttled } from "../source/source-failure.js";
import { combine } from "../value/combined-value.js";

const values = (...all: bigint[]) => all.map((value) => ok(value));
const no = failed("http_status", "answered HTTP 404");
const cut = failed("unreachable", "ECONNREFUSED");

describe("the combined value", () => {
  test.each<[Combination, bigint[], bigint]>([
    ["median", [3n, 1n, 2n], 2n],
    ["median", [4n, 1n], 1n],
    ["median", [9n], 9n],
    ["majority", [7n, 5n, 7n], 7n],
    ["majority", [0n], 0n],
    ["equal", [5n, 5n], 5n],
  ])("by %s of %s", (how, all, value) => {
    expect(combine(values(...all), 1, how)).toEqual({ kind: "value", value });
  });

  test.each<[Combination, bigint[], string]>([
    ["majority", [1n, 2n], "1 of 2 sources agree, fewer than 2"],
    ["majority", [1n, 1n, 2n, 2n], "2 of 4 sources agree, fewer than 3"],
    ["equal", [1n, 1n, 2n], "2 of 3 sources agree, fewer than 3"],
  ])("is none by %s of %s", (how, all, reason) => {
    expect(combine(values(...all), 1, how)).toEqual({ kind: "none", reason });
  });

  test("is none when fewer sources answered than must", () => {
    expect(combine([ok(1n), no, no], 2, "median")).toEqual({
      kind: "none",
      reason: "1 of 3 sources answered, fewer than 2",
    });
  });

  test("is busy when sources at their rate limit could still supply the missing values", () => {
    expect(combine([ok(1n), throttled("busy", 2.2), no], 2, "median")).toEqual({ kind: "busy", retryAfter: 3 });
    expect(combine([throttled("busy", 9), throttled("busy", 1), no], 2, "equal")).toEqual({
      kind: "busy",
      retryAfter: 9,
    });
    expect(combine([throttled("busy", 1), no, no], 2, "median")).toMatchObject({ kind: "none" });
    expect(combine([throttled("busy", 9), cut, no], 1, "median")).toEqual({ kind: "busy", retryAfter: 5 });
  });

  test("is unknown when so few sources answered because the network failed", () => {
    const outage = { kind: "busy", retryAfter: 5, isOutage: true };
    for (const failure of [cut, failed("timeout", "no answer")]) {
      expect(combine([ok(1n), failure, no], 2, "median")).toEqual(outage);
      expect(combine([ok(1n), ok(3n), failure], 2, "median")).toEqual({ kind: "value", value: 1n });
      expect(combine([failure, no, no], 2, "median")).toMatchObject({ kind: "none" });
    }
  });

  test("is unknown when a source that the network cut off could make a majority", () => {
    const outage = { kind: "busy", retryAfter: 5, isOutage: true };
    expect(combine([ok(1n), ok(2n), cut], 2, "majority")).toEqual(outage);
    expect(combine([ok(1n), ok(2n), ok(3n), cut], 2, "majority")).toMatchObject({ kind: "none" });
    expect(combine([ok(1n), ok(2n), cut], 2, "equal")).toMatchObject({ kind: "none" });
  });
});
