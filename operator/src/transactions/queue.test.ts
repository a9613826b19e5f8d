import { SYSTEM_CLOCK } from "@dataset-oracle/service/process/context";
import { closeAtEnd } from "@dataset-oracle/tools/close-at-end";
import { pino } from "pino";
import { type Hex, keccak256, numberToHex, parseTransaction, zeroAddress, zeroHash } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createChainClient } from "../rpc/client.js";
import { RpcError } from "../rpc/rpc-error.js";
import { GasBudget } from "./gas-budget.js";
import { TransactionQueue } from "./queue.js";
import { type RoundCall, Task, type Work } from "./task.js";

const POLL_MS = 1_000;

beforeEach(() => void vi.useFakeTimers());

afterEach(() => vi.useRealTimers());

const LOST_MS = 10_000;
let logged: string[];

/** @param request Answers the calls of the queue. */
function newQueue(request: (method: string, params: readonly unknown[]) => Promise<unknown>) {
  const closing = new AbortController();
  closeAtEnd(async () => closing.abort());
  logged = [];
  const logger = pino({ level: "info" }, { write: (line) => void logged.push(JSON.parse(line).msg) });
  const context = { clock: SYSTEM_CLOCK, random: () => 0, logger, closing: closing.signal };
  const limits = {
    ...{ stuckMs: 90_000, unseenMs: 3_000, lostMs: LOST_MS, maxPending: 4, reorgDepth: 8 },
    ...{ maxFeePerGas: 10n, maxPriorityFeePerGas: 1n, pollMs: POLL_MS },
  };
  const account = privateKeyToAccount(generatePrivateKey());
  const client = createChainClient(42, { request: request as never });
  const openCharge = () => new GasBudget(SYSTEM_CLOCK, { perHour: 1n }).open();
  return new TransactionQueue(client, account, openCharge, context, limits);
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

/** A node's answers, by method; null for all others. @param counts The transactions that it shows. */
function nodeOf(
  counts: { mined: number; pending: number },
  more: Readonly<Record<string, (raw: Hex) => unknown>> = {},
) {
  const answers: Readonly<Record<string, (first: Hex, second: unknown) => unknown>> = {
    eth_getTransactionCount: (_, tag) => numberToHex(tag === "latest" ? counts.mined : counts.pending),
    eth_getBlockByNumber: () => ({ number: "0x1", timestamp: "0x1", hash: zeroHash, ...BLOCK }),
    eth_maxPriorityFeePerGas: () => "0x1",
    txpool_contentFrom: () => ({ pending: {}, queued: {} }),
    eth_sendRawTransaction: () => zeroHash,
    ...more,
  };
  return async (method: string, [first, second]: readonly unknown[]) => answers[method]?.(first as Hex, second) ?? null;
}
const BLOCK = { baseFeePerGas: "0x1", gasLimit: "0x1c9c380" };

/** @param isStored Whether the chain has stored its round. */
function workOf(expiresAt: number, isStored: boolean): Work {
  const call: RoundCall = { to: zeroAddress, data: "0x", gas: 50_000n, round: BigInt(START_MS / 1_000), expiresAt };
  const charge = new GasBudget(SYSTEM_CLOCK, { perHour: 1n }).open();
  const subject = { dataset: zeroAddress, keys: [], accused: null };
  return { subject, payer: null, charge, call, renew: async () => null, isStored: async () => isStored };
}
const NEVER = Number.POSITIVE_INFINITY;
const START_MS = 1_800_000_000_000;

test("a nonce that a lagging node shows as free again begins anew to wait for its receipt", async () => {
  const counts = { mined: 0, pending: 0 };
  const queue = newQueue(nodeOf(counts));
  await queue.start();
  const enqueued = queue.enqueue(new Task(workOf(NEVER, false), NEVER));
  await vi.advanceTimersByTimeAsync(POLL_MS);
  await enqueued;
  const show = async (mined: number, ms: number) => {
    Object.assign(counts, { mined, pending: mined });
    await vi.advanceTimersByTimeAsync(ms);
  };
  await show(1, 2 * POLL_MS);
  await show(0, 2 * LOST_MS);
  await show(1, 2 * POLL_MS);
  expect(queue.counts.lost).toBe(0);
  await show(1, 2 * LOST_MS);
  expect(queue.counts.lost).toBe(1);
});

/** The entry of a node's pool for a transaction. */
function listed(from: Hex, raw: Hex) {
  const { maxFeePerGas = 0n, yParity = 0, r, s } = parseTransaction(raw);
  const numbers = { nonce: "0x0", gas: "0xc350", value: "0x0", chainId: "0x2a", v: numberToHex(yParity) };
  const fees = { type: "0x2", maxFeePerGas: numberToHex(maxFeePerGas), maxPriorityFeePerGas: "0x1", gasPrice: "0x1" };
  const about = { from, to: zeroAddress, input: "0x", hash: keccak256(raw), accessList: [] };
  return { ...about, ...numbers, ...fees, r, s };
}

/** A queue at a node whose pool shows the queue's transaction while it counts one as pending. */
function newQueueWithPool(counts: { mined: number; pending: number }, more: Parameters<typeof nodeOf>[1] = {}) {
  let raw: Hex = "0x";
  const isPending = () => counts.pending > counts.mined;
  const queue: TransactionQueue = newQueue(
    nodeOf(counts, {
      eth_sendRawTransaction: (sent) => {
        raw = sent;
        return zeroHash;
      },
      txpool_contentFrom: () => ({ pending: isPending() ? { 0: listed(queue.address, raw) } : {}, queued: {} }),
      ...more,
    }),
  );
  return queue;
}

test("a transaction of its own that it has forgotten, and a node shows later, is not another process's", async () => {
  vi.setSystemTime(START_MS);
  const counts = { mined: 0, pending: 0 };
  const queue = newQueueWithPool(counts);
  const work = workOf(START_MS + 5_000, true);
  await queue.start(() => work);
  const enqueued = queue.enqueue(new Task(work, NEVER));
  await vi.advanceTimersByTimeAsync(POLL_MS);
  await enqueued;
  await vi.advanceTimersByTimeAsync(60 * POLL_MS);
  expect(queue.depth.sent).toBe(0);
  counts.pending = 1;
  await vi.advanceTimersByTimeAsync(60 * POLL_MS);
  expect(logged).toContain("recovered");
  expect(logged.filter((message) => message.startsWith("another process"))).toEqual([]);
});

/** A queue that has confirmed its only update. @param pendingMs How long that was pending. */
async function newConfirmedQueue(work = workOf(NEVER, true), pendingMs = POLL_MS) {
  vi.setSystemTime(START_MS);
  const counts = { mined: 0, pending: 0 };
  const block = { number: "0x1", timestamp: "0x1", hash: zeroHash, ...BLOCK };
  const receipt = { status: "0x1", blockNumber: "0x1", blockHash: zeroHash, gasUsed: "0xc350", logs: [] };
  const queue = newQueueWithPool(counts, {
    eth_getBlockByNumber: () => block,
    eth_blockNumber: () => block.number,
    eth_getTransactionReceipt: (transactionHash) =>
      counts.mined === 1 && block.hash === zeroHash ? { ...receipt, transactionHash } : null,
  });
  await queue.start(() => work);
  void queue.enqueue(new Task(work, NEVER));
  await vi.advanceTimersByTimeAsync(pendingMs);
  Object.assign(counts, { mined: 1, pending: 1 });
  await vi.advanceTimersByTimeAsync(5 * POLL_MS);
  expect(queue.depth.sent).toBe(0);
  return { queue, counts, block };
}

test("an update that a reorganization has dropped is its own, and is looked for as soon as its nonce is free", async () => {
  const { queue, counts, block } = await newConfirmedQueue();
  // The chain is as long as before.
  Object.assign(block, { hash: `0x${"1".repeat(64)}` });
  Object.assign(counts, { mined: 0, pending: 1 });
  await vi.advanceTimersByTimeAsync(5 * POLL_MS);
  expect(logged).not.toContain("a pending transaction was not sent by this process");
  expect(logged).toContain("the chain was reorganized");
  expect(queue.depth.sent).toBe(1);
});

test("an update that a reorganization has dropped keeps its nonce, also while another endpoint still counts it", async () => {
  const { queue, counts, block } = await newConfirmedQueue();
  Object.assign(block, { number: "0x2", hash: `0x${"1".repeat(64)}` });
  await vi.advanceTimersByTimeAsync(2 * POLL_MS);
  Object.assign(counts, { mined: 0, pending: 1 });
  await vi.advanceTimersByTimeAsync(LOST_MS);
  expect(logged).toContain("the chain was reorganized");
  expect(logged).not.toContain("an update was not stored");
  expect(queue.depth.sent).toBe(1);
});

test("an update that a reorganization drops while its newest round is still being built is renewed anew", async () => {
  const renew = vi.fn(() => new Promise<null>(() => {}));
  const { counts, block } = await newConfirmedQueue({ ...workOf(NEVER, false), renew }, 95 * POLL_MS);
  expect(renew).toHaveBeenCalledOnce();
  Object.assign(block, { hash: `0x${"1".repeat(64)}` });
  Object.assign(counts, { mined: 0, pending: 0 });
  await vi.advanceTimersByTimeAsync(5 * POLL_MS);
  expect(renew).toHaveBeenCalledTimes(2);
});

test("a mined update that a lagging node still shows as pending is not another process's", async () => {
  const { queue, counts } = await newConfirmedQueue();
  Object.assign(counts, { mined: 0, pending: 1 });
  await vi.advanceTimersByTimeAsync(5 * POLL_MS);
  expect(logged).toEqual([]);
  expect(queue.depth.sent).toBe(0);
});

test("updates of a sender with delegated code (EIP-7702), of which nodes hold one transaction, wait for each other", async () => {
  vi.setSystemTime(START_MS);
  const counts = { mined: 0, pending: 0 };
  const raws: Hex[] = [];
  const block = { number: "0x1", timestamp: "0x1", hash: zeroHash, ...BLOCK };
  const receipt = { status: "0x1", blockNumber: "0x1", blockHash: zeroHash, gasUsed: "0xc350", logs: [] };
  const queue = newQueue(
    nodeOf(counts, {
      eth_getBlockByNumber: () => block,
      eth_blockNumber: () => block.number,
      eth_sendRawTransaction: (raw) => {
        if (parseTransaction(raw).nonce !== counts.mined) {
          const reason = "in-flight transaction limit reached for delegated accounts";
          throw new RpcError("refused", 42, "eth_sendRawTransaction", reason, null, "one_at_a_time");
        }
        raws.push(raw);
        counts.pending = counts.mined + 1;
        return keccak256(raw);
      },
      eth_getTransactionReceipt: (transactionHash) => {
        const nonce = raws.findIndex((raw) => keccak256(raw) === transactionHash);
        return nonce >= 0 && nonce < counts.mined ? { ...receipt, transactionHash } : null;
      },
    }),
  );
  await queue.start();
  const enqueued = [1, 2, 3].map(() => queue.enqueue(new Task(workOf(NEVER, true), NEVER)));
  for (let blocks = 1; blocks <= 3; blocks++) {
    await vi.advanceTimersByTimeAsync(12_000);
    expect(raws).toHaveLength(blocks);
    counts.mined++;
  }
  await vi.advanceTimersByTimeAsync(5_000);
  const sent = await Promise.all(enqueued);
  expect(sent.map(({ hash }) => hash)).toEqual(raws.map((raw) => keccak256(raw)));
});

test("a nonce that a chain has given back without a block in its place is used after a while", async () => {
  vi.setSystemTime(START_MS);
  const counts = { mined: 0, pending: 0 };
  const block = { number: "0x5", timestamp: "0x1", hash: zeroHash, ...BLOCK };
  const receipt = { status: "0x1", blockNumber: "0x5", blockHash: zeroHash, gasUsed: "0xc350", logs: [] };
  const nonces: (number | undefined)[] = [];
  const queue = newQueue(
    nodeOf(counts, {
      eth_getBlockByNumber: () => block,
      eth_blockNumber: () => block.number,
      eth_sendRawTransaction: (raw) => {
        nonces.push(parseTransaction(raw).nonce ?? 0);
        return keccak256(raw);
      },
      eth_getTransactionReceipt: (transactionHash) => (counts.mined === 1 ? { ...receipt, transactionHash } : null),
    }),
  );
  await queue.start();
  void queue.enqueue(new Task(workOf(NEVER, true), NEVER));
  await vi.advanceTimersByTimeAsync(POLL_MS);
  Object.assign(counts, { mined: 1, pending: 1 });
  await vi.advanceTimersByTimeAsync(5 * POLL_MS);
  expect(queue.depth.sent).toBe(0);
  // As after `evm_revert`: the next block comes only with a transaction.
  block.number = "0x4";
  Object.assign(counts, { mined: 0, pending: 0 });
  await vi.advanceTimersByTimeAsync(2 * LOST_MS);
  nonces.length = 0;
  void queue.enqueue(new Task(workOf(NEVER, true), NEVER));
  await vi.advanceTimersByTimeAsync(5 * POLL_MS);
  expect(nonces).toContain(0);
});

test("a node that holds one transaction at a time is not asked without end where none is pending", async () => {
  vi.setSystemTime(START_MS);
  let sends = 0;
  const queue = newQueue(
    nodeOf(
      { mined: 0, pending: 0 },
      {
        eth_sendRawTransaction: () => {
          sends++;
          throw new RpcError("refused", 42, "eth_sendRawTransaction", "no", null, "one_at_a_time");
        },
      },
    ),
  );
  await queue.start();
  const refused = queue.enqueue(new Task(workOf(NEVER, false), NEVER)).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(30 * POLL_MS);
  expect(await refused).toBeInstanceOf(RpcError);
  expect(sends).toBeLessThan(10);
});
