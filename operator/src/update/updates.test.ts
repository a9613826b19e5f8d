import { clockOf } from "@dataset-oracle/tools/clock-of";
import { pino } from "pino";
import { Counter } from "prom-client";
import type { Hex } from "viem";
import { beforeEach, expect, test } from "vitest";
import type { Dataset } from "../dataset/dataset.js";
import { type Job, type RoundCall, SubmissionUnknown } from "../transactions/job.js";
import type { TransactionQueue } from "../transactions/queue.js";
import { newTask, type Task } from "../transactions/queue-state.js";
import { createGasBudgets, Senders } from "../transactions/senders.js";
import type { UpdateBuilder } from "./builder.js";
import { Updates } from "./updates.js";

const ADDRESS = "0x1111111111111111111111111111111111111111";
const KEY: Hex = "0x4b31";
const NOW = 1_790_000_000_500;

let built: number;
/** The tasks that have got a nonce. */
let tasks: Task[];
let isUnclear: boolean;

beforeEach(() => {
  [built, tasks, isUnclear] = [0, [], false];
});

function updatesOf(gasPerHour: number): Updates {
  const clock = clockOf(() => NOW);
  const enqueue = async (job: Job<RoundCall>) => {
    const task = newTask(job, { resolve: () => {}, reject: () => {}, giveUpAt: 0 });
    tasks.push(task);
    const version = { hash: "0x01", call: job.call } as const;
    task.given(version, isUnclear ? new Error("no answer") : null);
    if (isUnclear) throw new SubmissionUnknown(new Error("no answer"));
    return { ...version, underway: task.underway, confirmed: task.underway.confirmed };
  };
  const queue = {
    ...{ address: ADDRESS, enqueue, dataPointIds: [] },
    get underway() {
      return tasks.map(({ underway }) => underway);
    },
  } as unknown as TransactionQueue;
  const gas = { gasPerHour, gasPerHourForNewKeys: 0, gasPerHourForFeeds: 1e9, gasPercentPerCaller: 100 };
  const senders = new Senders(42, [queue], createGasBudgets(gas, clock));
  const storedKeys = { has: async () => true };
  const dataset = { chainId: 42, address: ADDRESS, kind: "median", storedKeys } as unknown as Dataset;
  const call = { to: ADDRESS, data: "0x", gas: 100n, expiresAt: NOW + 300_000 } as const;
  const value = `0x${"0".repeat(63)}1` as const;
  const builder = {
    build: async (_: Hex, round: bigint) => {
      built++;
      return { kind: "update", ...call, round, status: "OK", value, reports: [] };
    },
    buildBatch: async (keys: readonly Hex[], round: bigint) => {
      const outcomes = new Map(keys.map((key) => [key, { status: "OK", value }]));
      return { kind: "batch", ...call, round, outcomes };
    },
  } as unknown as UpdateBuilder;
  const context = { clock, logger: pino({ level: "silent" }), closing: new AbortController().signal };
  const coalesced = new Counter({ name: "coalesced", help: "-", labelNames: ["work"], registers: [] });
  return new Updates(dataset, builder, senders, { minUpdateAgeSeconds: 0 }, context, coalesced as never);
}

const caller = { payer: "192.0.2.1", trace: null, listener: () => {} };

test("a refusal for gas is known before anything is built, overtakes nobody, and does not reach a feed", async () => {
  const updates = updatesOf(0);
  const refused = updates.broadcast(KEY, 0, caller);
  await expect(refused).rejects.toMatchObject({ code: "gas_budget_spent" });
  expect(built).toBe(0);
  expect(await updates.prepare(KEY, caller)).toHaveProperty("transaction");
  const round = BigInt(Math.floor(NOW / 1000) - 2);
  const [feed] = await Promise.allSettled([updates.broadcastForFeed(KEY, round), updates.broadcast(KEY, 0, caller)]);
  expect(feed.status).toBe("fulfilled");
});

test("a request in the round of a batch gets its hash once an endpoint has accepted it, and sends nothing", async () => {
  const updates = updatesOf(1e9);
  const round = BigInt(Math.floor(NOW / 1000) - 2);
  const batch = updates.broadcastBatch([KEY, "0x4b32"], round);
  void updates.broadcastForFeed(
    KEY,
    round,
    batch.then((stored) => stored.get(KEY) ?? null),
  );
  // Nothing is mined.
  expect(await updates.broadcast(KEY, 0, caller)).toMatchObject({ status: "OK", value: "1", transaction_hash: "0x01" });
  expect([built, tasks.length]).toEqual([0, 1]);
});

test("who asks for a round whose submission is unclear waits for the same transaction", async () => {
  const updates = updatesOf(1e9);
  isUnclear = true;
  await expect(updates.broadcast(KEY, 0, caller)).rejects.toThrow("no answer");
  const again = updates.broadcast(KEY, 0, caller);
  await new Promise((settled) => setImmediate(settled));
  const [task] = tasks;
  task?.given({ hash: "0x02", call: task.call }, null);
  expect(await again).toMatchObject({ transaction_hash: "0x02" });
  expect(tasks).toHaveLength(1);
});
