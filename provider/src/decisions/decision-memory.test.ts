import { ZERO_VALUE } from "@dataset-oracle/protocol/report";
import { numberToHex } from "viem";
import { describe, expect, test } from "vitest";
import { type Decision, DecisionMemory } from "./decision-memory.js";

const NOW = 1_800_000_000n;

const price = (value: number): Decision => ({ outcome: "OK", value: numberToHex(value, { size: 32 }) });
const NO_DATA: Decision = { outcome: "NOT_AVAILABLE", value: ZERO_VALUE };
const says = (decision: Decision, ...dataPoints: string[]) => new Map(dataPoints.map((name) => [name, decision]));

const newMemory = (capacity = 1_000, hasReserve = false) => new DecisionMemory({ hasReserve, capacity });

describe("a decision", () => {
  test("stands, whatever is proposed later", () => {
    const memory = newMemory();
    expect(memory.record(NOW, says(price(1), "a"))).toEqual(says(price(1), "a"));
    expect(memory.record(NOW, new Map([...says(price(2), "a"), ...says(price(2), "b")]))).toEqual(
      new Map([...says(price(1), "a"), ...says(price(2), "b")]),
    );
    expect(memory.recall(NOW, ["a", "b", "c"])).toEqual(new Map([...says(price(1), "a"), ...says(price(2), "b")]));
    expect(memory.count).toBe(2);
  });

  test("may be that there is no data, which is not the value 0", () => {
    const memory = newMemory();
    memory.record(NOW, says(NO_DATA, "a"));
    memory.record(NOW, says(price(0), "b"));
    expect(memory.record(NOW, says(price(7), "a", "b"))).toEqual(
      new Map([...says(NO_DATA, "a"), ...says(price(0), "b")]),
    );
  });

  test("is for one data point at one round", () => {
    const memory = newMemory();
    memory.record(NOW, says(price(1), "a"));
    expect(memory.recall(NOW + 1n, ["a"])).toEqual(new Map());
    expect(memory.record(NOW + 1n, says(price(2), "a"))).toEqual(says(price(2), "a"));
  });
});

describe("an old decision", () => {
  test("is forgotten after ten minutes, not before, and its round is named from then on", () => {
    const memory = newMemory();
    memory.record(NOW, says(price(1), "a"));
    memory.waitForRoom(1, false, NOW + 600n);
    expect([memory.recall(NOW, ["a"]), memory.forgottenThrough]).toEqual([says(price(1), "a"), 0n]);
    memory.waitForRoom(1, false, NOW + 601n);
    expect([memory.recall(NOW, ["a"]), memory.forgottenThrough, memory.count]).toEqual([new Map(), NOW, 0]);
  });

  test("closes rounds only up to the newest one that was forgotten, even if the clock was far ahead", () => {
    const memory = newMemory();
    memory.record(NOW, says(price(1), "a"));
    memory.record(NOW - 30n, says(price(1), "a"));
    memory.waitForRoom(1, false, NOW + 10_000_000n);
    expect(memory.forgottenThrough).toBe(NOW);
    memory.waitForRoom(1, false, NOW);
    expect(memory.forgottenThrough).toBe(NOW);
  });
});

describe("a full memory", () => {
  test("forgets nothing that could still be stored, and says when there will be room", () => {
    const memory = newMemory(2);
    memory.record(NOW, says(price(1), "a"));
    memory.record(NOW + 1n, says(price(1), "a"));
    expect(memory.waitForRoom(1, false, NOW + 100n)).toBe(501);
    expect(memory.recall(NOW, ["a"])).toEqual(says(price(1), "a"));
    expect(memory.waitForRoom(1, false, NOW + 601n)).toBe(0);
    expect(memory.waitForRoom(2, false, NOW + 601n)).toBe(1);
  });

  test.each([
    [4, 2],
    [3, 1],
  ])("of %d keeps the larger half of its room for reserved callers: others have %d", (capacity, others) => {
    const memory = newMemory(capacity, true);
    expect(memory.waitForRoom(others, false, NOW)).toBe(0);
    expect(memory.waitForRoom(others + 1, false, NOW)).toBeGreaterThan(0);
    memory.record(NOW, says(price(1), "a"));
    expect(memory.waitForRoom(others, false, NOW)).toBe(601);
    expect(memory.waitForRoom(capacity - 1, true, NOW)).toBe(0);
    expect(memory.waitForRoom(capacity, true, NOW)).toBe(601);
  });
});
