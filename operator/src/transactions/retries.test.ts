import { SYSTEM_CLOCK } from "@dataset-oracle/service/process/context";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { RoundCall } from "./job.js";
import { newTask, type Task } from "./queue-state.js";
import { Retries } from "./retries.js";

const call = (round: bigint): RoundCall => ({ to: `0x${"0".repeat(40)}`, data: "0x", gas: 1n, round, expiresAt: 9 });

beforeEach(() => vi.useFakeTimers());

afterEach(() => vi.useRealTimers());

/** @param isRefused True if the newest round was just refused. */
function retry(renew: () => Promise<RoundCall | null>, isStored = async () => true, isRefused = false) {
  const ready: Task[] = [];
  const retries = new Retries(
    { clock: SYSTEM_CLOCK, logger: pino({ level: "silent" }), closing: new AbortController().signal },
    (one) => ready.push(one),
  );
  const job = { payer: null, dataPointId: "K", call: call(1n), renew, isStored };
  const task: Task = { ...newTask(job, null), attempts: 2 };
  const state = { isOver: false, ready, task, close: () => retries.close() };
  void task.confirmed.promise.then((confirmed) => {
    expect(confirmed).toBe(null);
    state.isOver = true;
  });
  retries.add(task, isRefused);
  return state;
}

test("the newest round is sent", async () => {
  const { ready, task } = retry(async () => call(2n));
  await vi.advanceTimersByTimeAsync(1);
  expect(ready).toEqual([task]);
  expect(task).toMatchObject({ call: { round: 2n }, attempts: 0 });
});

test("a pending round does not end the retries, a stored one does", async () => {
  let isStored = false;
  const renew = async () => null;
  const state = retry(renew, async () => isStored);
  await vi.advanceTimersByTimeAsync(1);
  isStored = true;
  await vi.advanceTimersByTimeAsync(998);
  expect(state.isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(2);
  expect(state).toMatchObject({ isOver: true, ready: [] });
});

test("an unavailable round is retried at growing intervals for ten minutes", async () => {
  let asked = 0;
  const renew = async () => {
    asked++;
    throw new Error("no quorum");
  };
  const state = retry(renew, async () => true, true);
  await vi.advanceTimersByTimeAsync(999);
  expect(asked).toBe(0);
  await vi.advanceTimersByTimeAsync(599_000);
  expect(state.isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(40_000);
  expect(state.isOver).toBe(true);
  expect(asked).toBeGreaterThan(20);
  expect(asked).toBeLessThan(30);
});

test("a retry ends when the operator shuts down", async () => {
  const state = retry(() => Promise.reject(new Error("no quorum")));
  await vi.advanceTimersByTimeAsync(100);
  state.close();
  await vi.advanceTimersByTimeAsync(0);
  expect(state).toMatchObject({ isOver: true, ready: [] });
});
