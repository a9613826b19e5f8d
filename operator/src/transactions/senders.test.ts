import { clockOf } from "@dataset-oracle/tools/clock-of";
import { numberToHex } from "viem";
import { expect, test } from "vitest";
import { FeedGasSpent } from "./gas-budget.js";
import { type Job, type RoundCall, SubmissionUnknown } from "./job.js";
import type { TransactionQueue } from "./queue.js";
import { Senders } from "./senders.js";

const addressOf = (i: number) => numberToHex(i, { size: 20 });
const SETTINGS = { gasPerHour: 1e9, gasPerHourForNewKeys: 1e9, gasPerHourForFeeds: 1e9, gasPercentPerCaller: 100 };
const call: RoundCall = { to: addressOf(7), data: "0x", gas: 1n, round: 1n, expiresAt: 1 };
const job: Job<RoundCall> = {
  dataPointId: "K",
  payer: null,
  call,
  renew: async () => null,
  isStored: async () => true,
};

/** Returns for each of 100 keys which of some senders it goes through. */
async function sendersOf(count: number): Promise<number[]> {
  const used: number[] = [];
  const queues = Array.from({ length: count }, (_, i) => {
    const enqueue = async () => {
      used.push(i);
      return { hash: "0x", confirmed: Promise.resolve(null) };
    };
    return { address: addressOf(i + 1), enqueue } as unknown as TransactionQueue;
  });
  const senders = new Senders(
    1,
    queues,
    SETTINGS,
    clockOf(() => 0),
  );
  for (let i = 0; i < 100; i++) await senders.enqueue(job, addressOf(9), numberToHex(i));
  return used;
}

test("a key always goes through the same sender, and the keys are shared among all", async () => {
  const used = await sendersOf(3);
  expect(used).toHaveLength(100);
  expect(await sendersOf(3)).toEqual(used);
  expect(new Set(used)).toEqual(new Set([0, 1, 2]));
});

test("a further sender takes keys over, and moves none between the others", async () => {
  const [before, after] = [await sendersOf(3), await sendersOf(4)];
  const moved = before.flatMap((sender, i) => (after[i] === sender ? [] : [after[i]]));
  expect(new Set(moved)).toEqual(new Set([3]));
});

test("without a sender nothing is enqueued, and the problem says what to do", async () => {
  const senders = new Senders(
    1,
    [],
    SETTINGS,
    clockOf(() => 0),
  );
  await expect(senders.enqueue(job, addressOf(9), "0x01")).rejects.toMatchObject({
    code: "broadcast_unavailable",
    detail: expect.stringContaining('"broadcast": false'),
  });
});

test("feeds, stored keys and new keys each have a gas budget that the others cannot spend", async () => {
  const settings = { gasPerHour: 1, gasPerHourForNewKeys: 1, gasPerHourForFeeds: 1, gasPercentPerCaller: 100 };
  const queue = { address: addressOf(1), enqueue: async () => ({}) } as unknown as TransactionQueue;
  const senders = new Senders(
    1,
    [queue],
    settings,
    clockOf(() => 0),
  );
  const enqueue = (payer: string | null, budget: "stored" | "new") =>
    senders.enqueue({ ...job, payer }, addressOf(9), "0x01", budget);
  await enqueue(null, "stored");
  await expect(enqueue(null, "stored")).rejects.toBeInstanceOf(FeedGasSpent);
  for (const budget of ["stored", "new"] as const) {
    await enqueue("a", budget);
    await expect(enqueue("a", budget)).rejects.toMatchObject({ code: "gas_budget_spent" });
  }
  expect(Object.fromEntries(senders.gasUsed)).toEqual({ stored: 1, new: 1, feeds: 1 });
});

test("gas is given back where nothing was submitted, and stays reserved where nobody knows", async () => {
  const reason = new Error("no answer");
  let error: Error = new Error("refused");
  const enqueue = () => Promise.reject(error);
  const queue = { address: addressOf(1), enqueue } as unknown as TransactionQueue;
  const senders = new Senders(
    1,
    [queue],
    { ...SETTINGS, gasPerHourForFeeds: 1 },
    clockOf(() => 0),
  );
  for (let tries = 0; tries < 2; tries++) {
    await expect(senders.enqueue(job, addressOf(9), "0x01")).rejects.toBe(error);
  }
  error = new SubmissionUnknown(reason);
  await expect(senders.enqueue(job, addressOf(9), "0x01")).rejects.toBe(reason);
  await expect(senders.enqueue(job, addressOf(9), "0x01")).rejects.toBeInstanceOf(FeedGasSpent);
});
