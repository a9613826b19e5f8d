import { clockOf } from "@dataset-oracle/tools/clock-of";
import { numberToHex } from "viem";
import { beforeEach, expect, test } from "vitest";
import type { TransactionQueue } from "./queue.js";
import { createGasBudgets, Senders } from "./senders.js";
import { type RoundCall, Task } from "./task.js";

const addressOf = (i: number) => numberToHex(i, { size: 20 });
const SETTINGS = { gasPerHour: 1e9, gasPerHourForNewKeys: 1e9, gasPerHourForFeeds: 1e9, gasPercentPerCaller: 100 };
const CALL: RoundCall = { to: addressOf(7), data: "0x", gas: 1n, round: 1n, expiresAt: 1 };
const KIND = "updates of a key";

const ANY_SPENT = { kind: "gas_spent", budget: expect.any(String), retryAfterSeconds: expect.any(Number) };
const GAS_SPENT = expect.objectContaining({ fault: expect.objectContaining({ kind: "gas_spent" }) });

let nowMs: number;

beforeEach(() => {
  nowMs = 0;
});

/** @param enqueued Where the senders' queues note what they get, with the index of the sender. */
function sendersOf(count: number, enqueued: [number, Task][], settings = SETTINGS): Senders {
  const queues = Array.from({ length: count }, (_, i) => {
    const enqueue = async (task: Task) => void enqueued.push([i, task]);
    return { address: addressOf(i + 1), enqueue } as unknown as TransactionQueue;
  });
  const clock = clockOf(() => nowMs);
  return new Senders(1, queues, createGasBudgets(clock, settings), clock);
}

/** Has a task admitted, built with the gas that is given, and enqueued. */
function send(senders: Senders, payer: string | null, { gas = 1n, isNewKey = false, key = 1 } = {}) {
  const admission = senders.admit(payer, KIND, isNewKey);
  const { charge } = admission;
  const subject = { dataset: addressOf(9), keys: [numberToHex(key)], accused: null };
  const work = { subject, payer, charge, renew: async () => null, isStored: async () => true };
  return senders.enqueue(new Task({ ...work, call: { ...CALL, gas } }, 0), admission);
}

/** Returns for each of 100 keys which of some senders it goes through. */
async function usedOf(count: number): Promise<number[]> {
  const enqueued: [number, Task][] = [];
  const senders = sendersOf(count, enqueued);
  for (let key = 0; key < 100; key++) await send(senders, null, { key });
  return enqueued.map(([sender]) => sender);
}

test("a key always goes through the same sender, and the keys are shared among all", async () => {
  const used = await usedOf(3);
  expect(used).toHaveLength(100);
  expect(await usedOf(3)).toEqual(used);
  expect(new Set(used)).toEqual(new Set([0, 1, 2]));
});

test("a further sender takes keys over, and moves none between the others", async () => {
  const [before, after] = [await usedOf(3), await usedOf(4)];
  const moved = before.flatMap((sender, i) => (after[i] === sender ? [] : [after[i]]));
  expect(new Set(moved)).toEqual(new Set([3]));
});

test("without a sender nothing is admitted", () => {
  expect(() => sendersOf(0, []).admit(null, KIND)).toThrow(expect.objectContaining({ fault: { kind: "no_sender" } }));
});

test("feeds, stored keys and new keys each have a gas budget that the others cannot spend", async () => {
  const settings = { gasPerHour: 1, gasPerHourForNewKeys: 1, gasPerHourForFeeds: 1, gasPercentPerCaller: 100 };
  const senders = sendersOf(1, [], settings);
  await send(senders, null);
  expect(() => senders.admit(null, KIND)).toThrow(GAS_SPENT);
  for (const isNewKey of [false, true]) {
    await send(senders, "a", { isNewKey });
    expect(() => senders.admit("a", KIND, isNewKey)).toThrow(GAS_SPENT);
  }
  expect(Object.fromEntries(senders.gasUsed)).toEqual({ stored: 1, new: 1, feeds: 1 });
});

test("a budget of nothing refuses before anything is built, and so does one that is smaller than the latest task", async () => {
  const none = { gasPerHour: 0, gasPerHourForNewKeys: 0, gasPerHourForFeeds: 0, gasPercentPerCaller: 25 };
  for (const isNewKey of [false, true]) {
    expect(() => sendersOf(1, [], none).admit("a", KIND, isNewKey)).toThrow(
      expect.objectContaining({ fault: { ...ANY_SPENT, payer: null } }),
    );
  }
  expect(() => sendersOf(1, [], none).admit(null, KIND)).toThrow(GAS_SPENT);

  const enqueued: [number, Task][] = [];
  const senders = sendersOf(1, enqueued, { ...SETTINGS, gasPerHour: 100 });
  // What the first of its kind needs is known only once it is built.
  await expect(send(senders, "a", { gas: 101n })).rejects.toThrow(GAS_SPENT);
  expect(() => senders.admit("b", KIND)).toThrow(GAS_SPENT);
  // Tasks of another kind, and the other budgets, are not known yet.
  expect(senders.admit("b", "updates of two keys")).toBeDefined();
  expect(enqueued).toEqual([]);
});

test("after five seconds a task is built again whose kind needed more gas than there is: a node may have overstated it", async () => {
  const senders = sendersOf(1, [], { ...SETTINGS, gasPerHourForFeeds: 100 });
  await expect(send(senders, null, { gas: 1_000n })).rejects.toThrow(GAS_SPENT);
  nowMs = 4_999;
  expect(() => senders.admit(null, KIND)).toThrow(GAS_SPENT);
  nowMs = 5_000;
  await send(senders, null, { gas: 100n });
});
