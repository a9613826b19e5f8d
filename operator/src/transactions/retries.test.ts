import { SYSTEM_CLOCK } from "@dataset-oracle/service/process/context";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { GasBudget } from "./gas-budget.js";
import { Retries } from "./retries.js";
import { type RoundCall, Task } from "./task.js";

const call = (round: bigint): RoundCall => ({ to: `0x${"0".repeat(40)}`, data: "0x", gas: 1n, round, expiresAt: 9 });

let closing: AbortController;
/** The part of the half of each wait that is left out. */
let random: number;

beforeEach(() => {
  random = 0;
  closing = new AbortController();
  vi.useFakeTimers();
});

afterEach(() => vi.useRealTimers());

/** @param error Why the newest round was just refused. */
function retry(renew: () => Promise<RoundCall | null>, isStored = async () => false, error: unknown = null) {
  const ready: Task[] = [];
  const retries = new Retries(
    { clock: SYSTEM_CLOCK, random: () => random, logger: pino({ level: "silent" }), closing: closing.signal },
    (one) => ready.push(one),
  );
  const charge = new GasBudget(SYSTEM_CLOCK, { perHour: 1n }).open();
  const subject = { dataset: call(1n).to, keys: [], accused: null };
  const task = new Task({ payer: null, subject, charge, call: call(1n), renew, isStored }, null);
  task.countRefusal();
  const state = { isOver: false, failure: null as unknown, ready, task, retries };
  task.confirmed.then(
    (confirmed) => {
      expect(confirmed).toBe(null);
      state.isOver = true;
    },
    (failure) => {
      state.failure = failure;
    },
  );
  retries.add(task, error);
  return state;
}

test("the newest round is sent", async () => {
  const { ready, task } = retry(async () => call(2n));
  await vi.advanceTimersByTimeAsync(1);
  expect(ready).toEqual([task]);
  expect([task.call.round, task.countRefusal()]).toEqual([2n, 1]);
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
  // Whoever joins it too late does not wait for ever.
  await expect(state.task.accepted(1n)).resolves.toBe(null);
});

test("an unavailable round is retried at growing intervals for ten minutes, and then fails with the reason", async () => {
  let asked = 0;
  const reason = new Error("no quorum");
  const renew = async () => {
    asked++;
    throw reason;
  };
  const state = retry(renew, async () => false, new Error("refused"));
  await vi.advanceTimersByTimeAsync(999);
  expect(asked).toBe(0);
  await vi.advanceTimersByTimeAsync(599_000);
  expect(state.failure).toBe(null);
  await vi.advanceTimersByTimeAsync(40_000);
  expect(state.failure).toBe(reason);
  expect(asked).toBeGreaterThan(55);
  expect(asked).toBeLessThan(65);
});

test("a revert after ten minutes without a block is followed by another try", async () => {
  const { ready, task, retries } = retry(async () => call(2n));
  await vi.advanceTimersByTimeAsync(600_001);
  retries.addReverted(task);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(ready).toEqual([task, task]);
});

test("an update whose transactions are lost for ten minutes says so", async () => {
  const state = retry(async () => call(2n));
  await vi.advanceTimersByTimeAsync(600_001);
  for (const task of state.ready.splice(0)) state.retries.add(task);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(state.failure).toMatchObject({ message: "its transactions were lost" });
});

test("what can be built again after a long time is sent within ten seconds", async () => {
  let isFailing = true;
  const renew = () => (isFailing ? Promise.reject(new Error("no quorum")) : Promise.resolve(call(2n)));
  const { ready, task } = retry(renew);
  await vi.advanceTimersByTimeAsync(302_000);
  isFailing = false;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(ready).toEqual([task]);
});

test("what was refused together is not tried again together", async () => {
  random = 0.5;
  const { ready, task } = retry(
    async () => call(2n),
    async () => false,
    new Error("refused"),
  );
  await vi.advanceTimersByTimeAsync(749);
  expect(ready).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(ready).toEqual([task]);
});

test("the chain is asked first whether the round is stored, and then nothing is built", async () => {
  let asked = 0;
  const renew = async () => {
    asked++;
    return call(2n);
  };
  const state = retry(renew, async () => true);
  await vi.advanceTimersByTimeAsync(1);
  expect(state).toMatchObject({ isOver: true, ready: [] });
  expect(asked).toBe(0);
});

test("the waits and the end belong to a task: one that is refused each time it is ready is not built every second", async () => {
  const state = retry(async () => call(2n));
  let built = 0;
  for (let seconds = 0; seconds < 700; seconds++) {
    await vi.advanceTimersByTimeAsync(1_000);
    // The sender has no funds.
    for (const task of state.ready.splice(0)) {
      built++;
      state.retries.add(task, new Error("out of funds"));
    }
    if (seconds === 12) expect(built).toBeLessThanOrEqual(5);
  }
  expect(built).toBeLessThan(65);
  expect(state.failure).toMatchObject({ message: "out of funds" });
  expect(vi.getTimerCount()).toBe(0);
});

test("an update whose transactions revert is tried again later and later, a few times, and its callers learn why", async () => {
  const state = retry(async () => call(2n));
  await vi.advanceTimersByTimeAsync(1);
  let sent = 0;
  for (let seconds = 0; seconds < 100; seconds++) {
    for (const task of state.ready.splice(0)) {
      // A node that understates gas is not believed twice.
      expect(task.call.gas).toBe(call(2n).gas * BigInt(1 + sent));
      sent++;
      state.retries.addReverted(task);
      expect(state.ready).toEqual([]);
    }
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(sent).toBe(3);
  expect(state.failure).toMatchObject({ name: "UpdateReverted", fix: expect.stringContaining("3 transactions") });
});

test("a retry ends when the operator shuts down", async () => {
  const state = retry(() => Promise.reject(new Error("no quorum")));
  await vi.advanceTimersByTimeAsync(100);
  closing.abort();
  await vi.advanceTimersByTimeAsync(0);
  expect(state).toMatchObject({ isOver: true, ready: [] });
});

test("an update whose submission fails after the operator began to shut down is not tried again", async () => {
  let asked = 0;
  closing.abort();
  const state = retry(
    async () => null,
    async () => ++asked === 100,
    new Error("the signer did not answer"),
  );
  await vi.advanceTimersByTimeAsync(0);
  expect([state.isOver, asked]).toEqual([true, 0]);
});
