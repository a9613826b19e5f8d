import { pino } from "pino";
import { expect, test } from "vitest";
import type { RoundCall } from "./job.js";
import { newTask, type Task } from "./queue-state.js";
import { RetryQueue } from "./retry-queue.js";

const call = (round: bigint): RoundCall => ({ to: `0x${"0".repeat(40)}`, data: "0x", gas: 1n, round, expiresAt: 9 });
const nextTurn = () => new Promise((resolve) => setTimeout(resolve, 0));

function start(renew: () => Promise<RoundCall | null>, isStored = async () => true) {
  const state = { now: 0, tried: [] as (Task | null)[] };
  const retryQueue = new RetryQueue(
    () => state.now,
    pino({ level: "silent" }),
    (ready) => state.tried.push(ready),
  );
  const job = { payer: null, dataPointId: "K", call: call(1n), renew, isStored };
  const task: Task = { ...newTask(job, null), attempts: 2 };
  return { state, retryQueue, task };
}

test("the newest round is sent", async () => {
  const { state, retryQueue, task } = start(async () => call(2n));
  retryQueue.add(task);
  retryQueue.run();
  await nextTurn();
  expect(state.tried).toEqual([task]);
  expect(task).toMatchObject({ call: { round: 2n }, attempts: 0 });
  expect(retryQueue.size).toBe(0);
});

test("a pending round does not end the retries, a stored one does", async () => {
  let isStored = false;
  const { state, retryQueue, task } = start(
    async () => null,
    async () => isStored,
  );
  retryQueue.add(task);
  retryQueue.run();
  await nextTurn();
  expect([retryQueue.size, state.tried]).toEqual([1, [null]]);
  isStored = true;
  state.now = 999;
  retryQueue.run();
  await nextTurn();
  expect(retryQueue.size).toBe(1);
  state.now = 1_000;
  retryQueue.run();
  await nextTurn();
  expect(retryQueue.size).toBe(0);
  expect(await task.confirmed.promise).toBe(null);
});

test("an unavailable round is retried at growing intervals for ten minutes", async () => {
  let asked = 0;
  const { state, retryQueue, task } = start(async () => {
    asked++;
    throw new Error("no quorum");
  });
  retryQueue.add(task, true);
  for (; state.now <= 640_000 && retryQueue.size > 0; state.now += 500) {
    retryQueue.run();
    await nextTurn();
  }
  expect(asked).toBeGreaterThan(20);
  expect(asked).toBeLessThan(30);
  expect(state.now).toBeGreaterThan(600_000);
  expect(await task.confirmed.promise).toBe(null);
});
