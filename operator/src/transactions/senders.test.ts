import { numberToHex } from "viem";
import { expect, test } from "vitest";
import type { Job, RoundCall } from "./job.js";
import type { TransactionQueue } from "./queue.js";
import { Senders } from "./senders.js";

const addressOf = (i: number) => numberToHex(i, { size: 20 });
const SETTINGS = {
  gasPerHour: 1e9,
  gasPerHourForNewKeys: 1e9,
  gasPerHourForFeeds: 1e9,
  gasPercentPerCaller: 100,
};
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
  const senders = new Senders(1, queues, SETTINGS, () => 0);
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
  const senders = new Senders(1, [], SETTINGS, () => 0);
  await expect(senders.enqueue(job, addressOf(9), "0x01")).rejects.toMatchObject({
    code: "broadcast_unavailable",
    detail: expect.stringContaining('"broadcast": false'),
  });
});
