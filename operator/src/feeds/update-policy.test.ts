import { queryResult } from "@dataset-oracle/protocol/client/query-result";
import type { SignedRow } from "@dataset-oracle/protocol/encode-update";
import type { QueryStatus } from "@dataset-oracle/protocol/query-status";
import { type Hex, toHex } from "viem";
import { describe, expect, test } from "vitest";
import { dueAge, hasMoved, observe, stage } from "./update-policy.js";

const policy = { heartbeatSeconds: 100, deviationBps: 50, minIntervalSeconds: 10 };
const word = (value: bigint): Hex => toHex(value, { size: 32 });
const stored = (value: bigint, status: QueryStatus = "OK", updatedAt = 1_000n) => queryResult(status, value, updatedAt);
const ok = (value: bigint) => ({ status: "OK", value: word(value) }) as const;
const NONE = { status: "NOT_AVAILABLE" } as const;

test.each([
  [1_009, "wait"],
  [1_010, "look"],
  [1_084, "look"],
  [1_085, "due"],
] as const)("stored at 1000, with updates that take 15 s, at %s it is: %s", (now, expected) => {
  expect(stage(policy, stored(1n), now, 15)).toBe(expected);
});

test.each([
  ["by the time that updates take", 15, policy, 85],
  ["at the heartbeat itself, if they took no time", 0, policy, 100],
  ["never before half the heartbeat", 80, policy, 50],
  ["never before the minimum interval", 80, { ...policy, minIntervalSeconds: 95 }, 95],
] as const)("an update is started before the heartbeat: %s", (_, lead, of, expected) => {
  expect(dueAge(of, lead)).toBe(expected);
});

test("a key that was never stored is due", () => {
  expect(stage(policy, stored(0n, "NOT_AVAILABLE", 0n), 1_700_000_000, 0)).toBe("due");
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
    expect(hasMoved(policy, "median", stored(0n, "NOT_AVAILABLE"), ok(1n))).toBe(true);
    expect(hasMoved(policy, "median", stored(0n, "DISAGREEMENT"), ok(1n))).toBe(true);
    expect(hasMoved(policy, "median", stored(1n), NONE)).toBe(true);
    expect(hasMoved(policy, "median", stored(0n, "NOT_AVAILABLE"), NONE)).toBe(false);
  });
});

describe("rows are aggregated", () => {
  const row = (value: bigint | null): SignedRow => ({
    ...{ provider: "0x0000000000000000000000000000000000000001", signature: "0x" },
    missing: value === null ? 2n : 0n,
    values: [word(9n), word(value ?? 0n)],
  });

  test.each([
    ["a quorum of values: their lower median", [1n, 2n, 4n, 3n], ok(2n)],
    ["a quorum of no data", [null, null, null, 1n], NONE],
    ["two of four with a value: nothing", [1n, 1n, null, null], null],
    ["two rows of four: nothing", [1n, 1n], null],
  ])("%s", (_, values, expected) => {
    expect(observe("median", 4, values.map(row), 1)).toEqual(expected);
  });
});
