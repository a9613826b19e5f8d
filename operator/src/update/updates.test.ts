import { clockOf } from "@dataset-oracle/tools/clock-of";
import { pino } from "pino";
import { Counter } from "prom-client";
import { type Hex, numberToHex } from "viem";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import type { Dataset } from "../dataset/dataset.js";
import { NoQuorum } from "../reports/quorum.js";
import { RpcError } from "../rpc/rpc-error.js";
import { NotSent } from "../transactions/not-sent.js";
import type { TransactionQueue } from "../transactions/queue.js";
import { createGasBudgets, Senders } from "../transactions/senders.js";
import { type RoundCall, SubmissionUnknown, type Task } from "../transactions/task.js";
import { answerAfter } from "./answers.js";
import { Broadcasts } from "./broadcasts.js";
import type { UpdateBuilder } from "./builder.js";
import { Updates } from "./updates.js";

const ADDRESS = "0x1111111111111111111111111111111111111111";
const KEY: Hex = "0x4b31";
const NOW = 1_790_000_000_500;

let built: number;
/** The tasks that have got a nonce. */
let tasks: Task[];
let isUnclear: boolean;
/** What a payer's task is refused with, instead of getting a nonce; a feed's payer is null. */
let refusals: Map<string | null, Error>;
let payers: (string | null)[];
/** Makes the newest round for the latest task. */
let renew: () => Promise<RoundCall | null>;
/** What building waits for. */
let buildable: Promise<void>;
/** Why the next update cannot be built. */
let unbuildable: Error | null;
let now: number;

beforeEach(() => {
  [built, tasks, isUnclear, unbuildable] = [0, [], false, null];
  [refusals, payers, buildable, now] = [new Map(), [], Promise.resolve(), NOW];
});

function updatesOf(gasPerHour: number, gasPercentPerCaller = 100, gasPerHourForFeeds = 1e9) {
  const clock = clockOf(() => now);
  const enqueue = async (task: Task) => {
    const { payer, call } = task.work;
    const refusal = refusals.get(payer);
    payers.push(payer);
    if (refusal !== undefined) throw refusal;
    tasks.push(task);
    renew = () => task.work.renew(task);
    const version = { hash: "0x01", call } as const;
    task.given(version, isUnclear ? new Error("no answer") : null);
    if (isUnclear) throw new SubmissionUnknown(new Error("no answer"));
    return version;
  };
  const queue = {
    ...{ address: ADDRESS, enqueue, tasks: [] },
    get underway() {
      return tasks;
    },
  } as unknown as TransactionQueue;
  const gas = { gasPerHour, gasPerHourForNewKeys: 0, gasPerHourForFeeds, gasPercentPerCaller };
  const senders = new Senders(42, [queue], createGasBudgets(clock, gas), clock);
  const storedKeys = { has: async () => true };
  const dataset = { chainId: 42, address: ADDRESS, kind: "median", storedKeys } as unknown as Dataset;
  const call = { to: ADDRESS, data: "0x", gas: 100n, expiresAt: NOW + 300_000 } as const;
  const value = `0x${"0".repeat(63)}1` as const;
  const builder = {
    build: async (key: Hex, round: bigint) => {
      built++;
      await buildable;
      const failure = unbuildable;
      unbuildable = null;
      if (failure !== null) throw failure;
      const outcome = { status: "OK", value, reports: [] } as const;
      return { kind: "update", outcome, call: { ...call, round, outcomes: new Map([[key, outcome]]) } };
    },
    buildBatch: async (keys: readonly Hex[], round: bigint) => {
      const outcomes = new Map(keys.map((key) => [key, { status: "OK", value, reports: [] }]));
      return { ...call, round, outcomes };
    },
  } as unknown as UpdateBuilder;
  const context = { clock, logger: pino({ level: "silent" }), closing: new AbortController().signal };
  const coalesced = new Counter({ name: "coalesced", help: "-", labelNames: ["work"], registers: [] });
  const broadcasts = new Broadcasts(dataset, builder, senders, coalesced as never, context);
  const updates = new Updates(dataset, builder, broadcasts, coalesced as never, context, { minUpdateAgeSeconds: 0 });
  return { updates, broadcasts, senders };
}

const caller = { payer: "192.0.2.1", trace: null, listener: () => {} };

test("a refusal for gas is known before anything is built, overtakes nobody, and does not reach a feed", async () => {
  const { updates, broadcasts } = updatesOf(0);
  const refused = updates.broadcast(KEY, 0, caller);
  await expect(refused).rejects.toMatchObject({ fault: { kind: "gas_spent" } });
  expect(built).toBe(0);
  expect(await updates.prepare(KEY, caller)).toHaveProperty("transaction.call");
  const round = BigInt(Math.floor(NOW / 1000) - 2);
  const [feed] = await Promise.allSettled([broadcasts.broadcastOwn(KEY, round), updates.broadcast(KEY, 0, caller)]);
  expect(feed.status).toBe("fulfilled");
});

test("a request in the round of a batch gets its hash once an endpoint has accepted it, and sends nothing", async () => {
  const { updates, broadcasts } = updatesOf(1e9);
  const round = BigInt(Math.floor(NOW / 1000) - 2);
  const batch = broadcasts.broadcastBatch([KEY, "0x4b32"], round);
  void broadcasts.broadcastOwn(
    KEY,
    round,
    batch.then((stored) => stored.get(KEY) ?? null),
  );
  // Nothing is mined.
  expect(await updates.broadcast(KEY, 0, caller)).toMatchObject({
    outcome: { status: "OK", value: numberToHex(1, { size: 32 }) },
    transaction: "0x01",
  });
  expect([built, tasks.length]).toEqual([0, 1]);
});

test("a request that waits for a batch without its key is sent although the feeds' gas is spent", async () => {
  const { updates, broadcasts } = updatesOf(1e9, 100, 0);
  const round = BigInt(Math.floor(NOW / 1000) - 2);
  const [feed, request] = await Promise.allSettled([
    broadcasts.broadcastOwn(KEY, round, Promise.resolve(null)),
    updates.broadcast(KEY, 0, caller),
  ]);
  expect(feed).toMatchObject({ status: "rejected", reason: { fault: { kind: "gas_spent" } } });
  expect(request).toMatchObject({ status: "fulfilled", value: { transaction: "0x01" } });
});

test("a batch whose gas is spent once it is built says so", async () => {
  refusals = new Map([[null, new NotSent(42, { ...GAS_SPENT, payer: null })]]);
  const batch = updatesOf(1e9).broadcasts.broadcastBatch([KEY, "0x4b32"], 1n);
  await expect(batch).rejects.toMatchObject({ fault: { kind: "gas_spent" } });
});

test("who asks for a round whose submission is unclear waits for the same transaction", async () => {
  const { updates } = updatesOf(1e9);
  isUnclear = true;
  await expect(updates.broadcast(KEY, 0, caller)).rejects.toThrow("no answer");
  const again = updates.broadcast(KEY, 0, caller);
  await new Promise((settled) => setImmediate(settled));
  const [task] = tasks;
  task?.given({ hash: "0x02", call: task.call }, null);
  expect(await again).toMatchObject({ transaction: "0x02" });
  expect(tasks).toHaveLength(1);
});

/** Asks for one key as callers who all join the work that the first has started. */
async function askTogether(updates: Updates, more: () => Promise<unknown>[] = () => []) {
  let build = () => {};
  buildable = new Promise((resolve) => (build = resolve));
  const asked: Promise<unknown>[] = ["a", "b", "c"].map((payer) => updates.broadcast(KEY, 0, { ...caller, payer }));
  await expect.poll(() => built).toBe(1);
  const all = Promise.allSettled([...asked, ...more()]);
  build();
  return all;
}

const GAS_SPENT = { kind: "gas_spent", budget: "stored", retryAfterSeconds: 60 } as const;
const STARTERS_FAILURES = [
  ["a full queue", new NotSent(42, { kind: "queue_full" }), { fault: { kind: "queue_full" } }],
  ["its gas", new NotSent(42, { ...GAS_SPENT, payer: "a" }), { fault: { kind: "gas_spent" } }],
] as const;

test.each(STARTERS_FAILURES)(
  "%s ends only who started the work: each starts once, until one succeeds",
  async (...row) => {
    const [, failure, reason] = row;
    refusals = new Map(["a", "b"].map((payer) => [payer, failure]));
    const [a, b, c] = await askTogether(updatesOf(1e9).updates);
    for (const refused of [a, b]) expect(refused).toMatchObject({ status: "rejected", reason });
    expect(c).toMatchObject({ status: "fulfilled", value: { transaction: "0x01" } });
    expect([built, payers, tasks.length]).toEqual([3, ["a", "b", "c"], 1]);
  },
);

test.each(STARTERS_FAILURES)("%s of who started the work does not reach a feed that joined it", async (...row) => {
  const [, failure, reason] = row;
  refusals = new Map([["a", failure]]);
  const { updates, broadcasts } = updatesOf(1e9);
  const round = BigInt(Math.floor(NOW / 1000) - 2);
  const [a, ...others] = await askTogether(updates, () => [broadcasts.broadcastOwn(KEY, round)]);
  expect(a).toMatchObject({ status: "rejected", reason });
  expect(others.map(({ status }) => status)).toEqual(Array(3).fill("fulfilled"));
  expect([built, tasks.length]).toEqual([2, 1]);
});

test("too many questions of callers to a provider do not fail a feed that joined one of them", async () => {
  const about = { kind: "failure", host: null, detail: "", code: null, refuses: null } as const;
  const failures = [{ ...about, provider: ADDRESS, reason: "not_asked" } as const];
  const { updates, broadcasts } = updatesOf(1e9);
  const round = BigInt(Math.floor(NOW / 1000) - 2);
  const noQuorum = new NoQuorum(4, "none signed", failures);
  unbuildable = noQuorum;
  const [a, , , feed] = await askTogether(updates, () => [broadcasts.broadcastOwn(KEY, round)]);
  expect(a).toMatchObject({ status: "rejected", reason: noQuorum });
  expect(feed).toMatchObject({ status: "fulfilled" });
});

test("who joins work pays nothing for it", async () => {
  const { updates, senders } = updatesOf(200, 50);
  await askTogether(updates);
  expect(Object.fromEntries(senders.gasUsed)).toMatchObject({ stored: 0.5 });
  now += 1_000;
  const [a, b] = await Promise.allSettled(["a", "b"].map((payer) => updates.broadcast(KEY, 0, { ...caller, payer })));
  expect(a).toMatchObject({ status: "rejected", reason: { fault: { kind: "gas_spent", payer: "a" } } });
  expect(b).toMatchObject({ status: "fulfilled" });
});

test("a failure that belongs to nobody reaches all who share the work, and nobody starts it again", async () => {
  refusals = new Map([["a", new RpcError("failed", 42, "eth_sendRawTransaction", "the endpoint is down")]]);
  const outcomes = await askTogether(updatesOf(1e9).updates);
  for (const outcome of outcomes) expect(outcome).toMatchObject({ status: "rejected", reason: expect.any(RpcError) });
  expect([built, payers]).toEqual([1, ["a"]]);
});

test("who waits a minute for a block does not wait longer for an endpoint that has not answered", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const never = new Promise<never>(() => {});
  const update = { accepted: never, mined: never, unclear: () => null };
  let answer: unknown;
  void answerAfter(update, {} as Dataset, KEY, 1n, 60_000, 30_000, new AbortController().signal).then((value) => {
    answer = value;
  });
  await vi.advanceTimersByTimeAsync(59_000);
  expect(answer).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1_100);
  expect(answer).toBeNull();
});

test("who asks for the round that a transaction is being renewed for waits for that transaction", async () => {
  const { updates } = updatesOf(1e9);
  await updates.broadcast(KEY, 0, caller);
  const [task] = tasks;
  now += 1_000;
  const renewed = renew();
  const asked = updates.broadcast(KEY, 0, caller);
  const call = await renewed;
  if (call === null) throw new Error("The renewal found no round.");
  task?.given({ hash: "0x02", call }, null);
  expect(await asked).toMatchObject({ transaction: "0x02" });
  expect([built, tasks.length]).toEqual([2, 1]);
});

test("a transaction is not renewed for a round that another one has begun", async () => {
  const { updates } = updatesOf(1e9);
  await updates.broadcast(KEY, 0, caller);
  const renewFirst = renew;
  now += 1_000;
  let build = () => {};
  buildable = new Promise((resolve) => (build = resolve));
  const second = updates.broadcast(KEY, 0, caller);
  await expect.poll(() => built).toBe(2);
  const renewed = expect(renewFirst()).rejects.toThrow("another transaction of this operator");
  build();
  await Promise.all([renewed, second]);
  expect([built, tasks.length]).toEqual([2, 2]);
});
