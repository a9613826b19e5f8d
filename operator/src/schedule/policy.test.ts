import { queryResult } from "@dataset-oracle/protocol/client/query-result";
import type { QueryStatus } from "@dataset-oracle/protocol/query-status";
import { type Hex, toHex } from "viem";
import { expect, test } from "vitest";
import { dueAge, hasMoved, updateNeed } from "./policy.js";

const policy = { heartbeatSeconds: 100, deviationBps: 50, minIntervalSeconds: 10 };
const word = (value: bigint): Hex => toHex(value, { size: 32 });
const stored = (value: bigint, status: QueryStatus = "OK", updatedAt = 1_000n) => queryResult(status, value, updatedAt);
const ok = (value: bigint) => ({ status: "OK", value: word(value) }) as const;
const NONE = { status: "NOT_AVAILABLE" } as const;

test.each([
  [1_000n, 1_009, "none"],
  [1_000n, 1_010, "if_moved"],
  [1_000n, 1_084, "if_moved"],
  [1_000n, 1_085, "due"],
  [0n, 1_700_000_000, "due"],
] as const)("stored at %s (0: never), with updates that take 15 s, at %s it is: %s", (storedAt, now, expected) => {
  expect(updateNeed(policy, storedAt, now, 15)).toBe(expected);
});

test.each([
  ["before the heartbeat, by the time that updates take", 15, policy, 85],
  ["at the heartbeat itself, if updates take no time", 0, policy, 100],
  ["no earlier than half the heartbeat", 80, policy, 50],
  ["no earlier than the minimum interval", 80, { ...policy, minIntervalSeconds: 95 }, 95],
] as const)("an update is started %s", (_, lead, of, expected) => {
  expect(dueAge(of, lead)).toBe(expected);
});

test.each([
  ["up by less", "median", stored(1_000_000n), ok(1_004_999n), false],
  ["up by the threshold", "median", stored(1_000_000n), ok(1_005_000n), true],
  ["down by less", "median", stored(1_000_000n), ok(995_001n), false],
  ["down by the threshold", "median", stored(1_000_000n), ok(995_000n), true],
  ["not at all", "median", stored(1_000_000n), ok(1_000_000n), false],
  ["from 0", "median", stored(0n), ok(1n), true],
  ["from 0 to 0", "median", stored(0n), ok(0n), false],
  ["in a majority dataset, by anything", "majority", stored(1_000_000n), ok(1_000_001n), true],
  ["in a majority dataset, not at all", "majority", stored(1_000_000n), ok(1_000_000n), false],
  ["from no data", "median", stored(0n, "NOT_AVAILABLE"), ok(0n), true],
  ["from a disagreement", "median", stored(0n, "DISAGREEMENT"), ok(1n), true],
  ["to no data", "median", stored(1n), NONE, true],
  ["from no data to no data", "median", stored(0n, "NOT_AVAILABLE"), NONE, false],
] as const)("whether a value that moves %s (%s) has moved", (_, kind, from, to, expected) => {
  expect(hasMoved(policy, kind, from, to)).toBe(expected);
});
