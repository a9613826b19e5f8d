import { queryResult } from "@dataset-oracle/protocol/client/query-result";
import type { QueryStatus } from "@dataset-oracle/protocol/query-status";
import { type Hex, toHex } from "viem";
import { describe, expect, test } from "vitest";
import { dueAge, hasMoved, updateNeed } from "./policy.js";

const policy = { heartbeatSeconds: 100, deviationBps: 50, minIntervalSeconds: 10 };
const word = (value: bigint): Hex => toHex(value, { size: 32 });
const stored = (value: bigint, status: QueryStatus = "OK", updatedAt = 1_000n) => queryResult(status, value, updatedAt);
const ok = (value: bigint) => ({ status: "OK", value: word(value) }) as const;
const NONE = { status: "NOT_AVAILABLE" } as const;

test.each([
  [1_009, "none"],
  [1_010, "if_moved"],
  [1_084, "if_moved"],
  [1_085, "due"],
] as const)("stored at 1000, with updates that take 15 s, at %s it is: %s", (now, expected) => {
  expect(updateNeed(policy, 1_000n, now, 15)).toBe(expected);
});

test.each([
  ["before the heartbeat, by the time that updates take", 15, policy, 85],
  ["at the heartbeat itself, if updates take no time", 0, policy, 100],
  ["no earlier than half the heartbeat", 80, policy, 50],
  ["no earlier than the minimum interval", 80, { ...policy, minIntervalSeconds: 95 }, 95],
] as const)("an update is started %s", (_, lead, of, expected) => {
  expect(dueAge(of, lead)).toBe(expected);
});

test("a key that was never stored is due", () => {
  expect(updateNeed(policy, 0n, 1_700_000_000, 0)).toBe("due");
});

describe("a value has moved", () => {
  test.each([
    ["up by less", 1_004_999n, false],
    ["up by the threshold", 1_005_000n, true],
    ["down by less", 995_001n, false],
    ["down by the threshold", 995_000n, true],
    ["unchanged", 1_000_000n, false],
  ])("%s", (_, value, expected) => {
    expect(hasMoved(policy, "median", stored(1_000_000n), ok(value))).toBe(expected);
  });

  test("from 0 when it is different", () => {
    expect(hasMoved(policy, "median", stored(0n), ok(0n))).toBe(false);
    expect(hasMoved(policy, "median", stored(0n), ok(1n))).toBe(true);
  });

  test("in a majority dataset when it is different", () => {
    expect(hasMoved(policy, "majority", stored(1_000_000n), ok(1_000_001n))).toBe(true);
    expect(hasMoved(policy, "majority", stored(1_000_000n), ok(1_000_000n))).toBe(false);
  });

  test("when data appears or disappears", () => {
    expect(hasMoved(policy, "median", stored(0n, "NOT_AVAILABLE"), ok(0n))).toBe(true);
    expect(hasMoved(policy, "median", stored(0n, "DISAGREEMENT"), ok(1n))).toBe(true);
    expect(hasMoved(policy, "median", stored(1n), NONE)).toBe(true);
    expect(hasMoved(policy, "median", stored(0n, "NOT_AVAILABLE"), NONE)).toBe(false);
  });
});
