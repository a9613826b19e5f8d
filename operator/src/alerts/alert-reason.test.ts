import type { QueryResult } from "@dataset-oracle/protocol/client/query-result";
import { expect, test } from "vitest";
import { alertReason } from "./alert-reason.js";

const stored = (status: string, updatedAt: number) => ({ status, updatedAt: BigInt(updatedAt) }) as QueryResult;

test.each([
  ["a value within its heartbeat", stored("OK", 1_000), null],
  ["a value that was never stored, one and a half heartbeats after the start", stored("NOT_AVAILABLE", 0), null, 985],
  ["a value that was never stored, later", stored("NOT_AVAILABLE", 0), "stale", 984],
  ["a round for which there was no data", stored("NOT_AVAILABLE", 1_000), "no_value"],
  ["an old round without data", stored("NOT_AVAILABLE", 900), "stale"],
  ["a value that is exactly one and a half heartbeats old", stored("OK", 985), null],
  ["an older one", stored("OK", 984), "stale"],
  ["a round in which the providers disagreed", stored("DISAGREEMENT", 1_000), "disagreement"],
  ["an old disagreement", stored("DISAGREEMENT", 900), "stale"],
])("%s", (_, point, reason, startedAt = 1_000) => {
  expect(alertReason(point, 10, startedAt, 1_000)).toBe(reason);
});
