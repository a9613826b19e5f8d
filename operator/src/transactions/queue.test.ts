import { SYSTEM_CLOCK } from "@dataset-oracle/service/process/context";
import { closeAtEnd } from "@dataset-oracle/tools/close-at-end";
import { pino } from "pino";
import { numberToHex, zeroAddress, zeroHash } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createChainClient } from "../rpc/client.js";
import { RpcError } from "../rpc/rpc-error.js";
import { GasBudget } from "./gas-budget.js";
import type { RoundCall } from "./job.js";
import { TransactionQueue } from "./queue.js";

const POLL_MS = 1_000;

beforeEach(() => void vi.useFakeTimers());

afterEach(() => vi.useRealTimers());

const LOST_MS = 10_000;

/** @param request Answers the calls of the queue. */
function newQueue(request: (method: string, params: readonly unknown[]) => Promise<unknown>) {
  const closing = new AbortController();
  closeAtEnd(async () => closing.abort());
  const context = { clock: SYSTEM_CLOCK, random: () => 0, logger: pino({ level: "silent" }), closing: closing.signal };
  const limits = {
    ...{ stuckMs: 90_000, unseenMs: 3_000, lostMs: LOST_MS, maxPending: 4, reservedForFeeds: 0, reorgDepth: 8 },
    ...{ maxFeePerGas: 10n, maxPriorityFeePerGas: 1n, pollMs: POLL_MS },
  };
  const account = privateKeyToAccount(generatePrivateKey());
  const client = createChainClient(42, { request: request as never });
  return new TransactionQueue(client, account, limits, context, () => new GasBudget(1n, SYSTEM_CLOCK).open());
}

test("an idle queue that could not read the chain looks again at the next poll, to recover what is pending", async () => {
  let asked = 0;
  const queue = newQueue(async (method) => {
    if (method === "eth_getTransactionCount") asked++;
    throw new RpcError("failed", 42, method, "no endpoint can be used");
  });
  await queue.start();
  const before = asked;
  await vi.advanceTimersByTimeAsync(POLL_MS);
  expect(asked).toBe(2 * before);
});

test("a nonce that a lagging node shows as free again begins anew to wait for its receipt", async () => {
  let mined = 0;
  const queue = newQueue(async (method) => {
    if (method === "eth_getTransactionCount") return numberToHex(mined);
    if (method === "eth_getBlockByNumber")
      return { number: "0x1", timestamp: "0x1", hash: zeroHash, baseFeePerGas: "0x1", gasLimit: "0x1c9c380" };
    if (method === "eth_maxPriorityFeePerGas") return "0x1";
    if (method === "txpool_contentFrom") return { pending: {}, queued: {} };
    if (method === "eth_sendRawTransaction") return zeroHash;
    return null;
  });
  await queue.start();
  const call: RoundCall = { to: zeroAddress, data: "0x", gas: 50_000n, round: 1n, expiresAt: 9e15 };
  const charge = new GasBudget(1n, SYSTEM_CLOCK).open();
  const isStored = async () => false;
  const enqueued = queue.enqueue({ dataPointId: "K", payer: null, charge, call, renew: async () => null, isStored });
  await vi.advanceTimersByTimeAsync(POLL_MS);
  await enqueued;
  const show = async (count: number, ms: number) => {
    mined = count;
    await vi.advanceTimersByTimeAsync(ms);
  };
  await show(1, 2 * POLL_MS);
  await show(0, 2 * LOST_MS);
  await show(1, 2 * POLL_MS);
  expect(queue.counts.lost).toBe(0);
  await show(1, 2 * LOST_MS);
  expect(queue.counts.lost).toBe(1);
});
