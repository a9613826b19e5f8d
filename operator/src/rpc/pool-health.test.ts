import { expect, test } from "vitest";
import { afterFailure, type Health, isFromTheFuture, readableEndpoints, UNCHECKED } from "./pool.js";

const LIMITS = { maxHeadLagBlocks: 3, maxHeadLagSeconds: 30 };
const at = (number: number, timestamp = 1_000): Health => ({ ...UNCHECKED, head: { number, timestamp } });

test("a quarantine doubles with each failure in a row, from a second to a minute", () => {
  const lengths: number[] = [];
  for (let health = UNCHECKED, i = 0; i < 40; i++) {
    health = afterFailure(health, 5_000);
    lengths.push(health.quarantinedUntil - 5_000);
  }
  expect(lengths.slice(0, 8)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  expect(lengths.at(-1)).toBe(60_000);
});

test("an endpoint that has failed is not ready", () => {
  expect(afterFailure(afterFailure(at(7), 5_000), 6_000)).toMatchObject({ head: null, failures: 2 });
});

test.each<[string, Health[], number[]]>([
  ["none", [], []],
  ["none that was never checked", [UNCHECKED, UNCHECKED], []],
  ["the only one, whatever its head", [at(0, 0)], [0]],
  ["all, in the order of the configuration", [at(5), at(7), at(6)], [0, 1, 2]],
  ["one that is as far behind as allowed", [at(4), at(7)], [0, 1]],
  ["none that is one block more behind", [at(3), at(7)], [1]],
  ["one whose time is as far behind as allowed", [at(7, 970), at(7, 1_000)], [0, 1]],
  ["none whose time is one second more behind", [at(7, 969), at(7, 1_000)], [1]],
  ["none in quarantine", [afterFailure(at(7), 0), at(7)], [1]],
  ["one that is behind those in quarantine only", [afterFailure(at(99), 0), at(7)], [1]],
])("reads from %s", (_, healths, indices) => {
  const endpoints = healths.map((health, index) => ({ health, index }));
  expect(readableEndpoints(endpoints, LIMITS).map(({ index }) => index)).toEqual(indices);
});

test("a head may be a minute ahead of the clock, and no more", () => {
  expect(isFromTheFuture({ number: 1, timestamp: 1_060 }, 1_000_000)).toBe(false);
  expect(isFromTheFuture({ number: 1, timestamp: 1_061 }, 1_000_000)).toBe(true);
});
