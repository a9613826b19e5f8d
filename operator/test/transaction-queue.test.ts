import { setMaxListeners } from "node:events";
import { SYSTEM_CLOCK } from "@dataset-oracle/service/process/context";
import { TRUSTED_CONNECTIONS } from "@dataset-oracle/service/trusted/connections";
import { clockOf } from "@dataset-oracle/tools/clock-of";
import { pino } from "pino";
import { type Hex, isAddressEqual, keccak256, numberToHex, parseGwei, parseTransaction, stringToHex } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createChainClient } from "../src/rpc/client.js";
import { connectEndpoint, type JsonRpc } from "../src/rpc/endpoint.js";
import { classifyNodeError } from "../src/rpc/node-errors.js";
import { RpcError } from "../src/rpc/rpc-error.js";
import { GasBudget } from "../src/transactions/gas-budget.js";
import { MAX_QUEUE_MS, type QueueSettings, TransactionQueue } from "../src/transactions/queue.js";
import { submitRaw } from "../src/transactions/submitter.js";
import {
  AlreadyUnderway,
  type ContractCall,
  type RoundCall,
  SubmissionUnknown,
  Task,
  type Work,
} from "../src/transactions/task.js";
import { OTHER_ACCOUNT, startChain } from "./support/chain.js";

/** Transaction queues on a chain that mines only on demand. What a pass decides is tested in src/transactions. */

const GWEI = parseGwei("1");
const NEVER = Number.POSITIVE_INFINITY;
const SETTINGS: QueueSettings = {
  stuckMs: 60_000,
  unseenMs: 150,
  lostMs: 250,
  maxPending: 16,
  maxFeePerGas: 500n * GWEI,
  maxPriorityFeePerGas: 50n * GWEI,
  pollMs: 50,
  reorgDepth: 8,
};

let account: PrivateKeyAccount;
let closing: AbortController;
let log: string[];
/** How much time has passed for the queues beside the real time. */
let passedMs: number;
/** Pays for everything. */
let budget: GasBudget;

const chain = await startChain();
await chain.client.setIntervalMining({ interval: 0 });
await chain.client.setAutomine(false);

beforeEach(async ({ onTestFailed }) => {
  account = privateKeyToAccount(generatePrivateKey());
  await chain.fund(account.address);
  await mine();
  beginProcess();
  log = [];
  passedMs = 0;
  budget = new GasBudget(clockOf(now), { perHour: 1_000_000n });
  onTestFailed(() => console.log(log.join("")));
});

afterEach(() => closing.abort());

/** Lets the time pass after which a transaction is stuck. */
const getStuck = () => {
  passedMs += SETTINGS.stuckMs;
};
const now = () => Date.now() + passedMs;
const mine = (blocks = 1) => chain.client.mine({ blocks });
const reorganize = (depth: number) => chain.client.request({ method: "anvil_reorg", params: [depth, []] } as never);
const minedCount = () => chain.client.getTransactionCount({ address: account.address });
const isOwn = (address: Hex | null | undefined) => !!address && isAddressEqual(address, account.address);
const until = <T>(look: () => T | Promise<T>) => vi.waitUntil(look, { timeout: 120_000, interval: 20 });
const untilLogged = (text: string) => until(() => log.some((line) => line.includes(text)));

const connectNode = (): JsonRpc =>
  connectEndpoint(42, chain.url, 2_000, {
    clock: SYSTEM_CLOCK,
    closing: closing.signal,
    dispatcher: TRUSTED_CONNECTIONS,
  });

/** The node, some of whose answers are others. */
function altered(
  answer: (ask: () => Promise<unknown>, method: string, params: readonly unknown[]) => unknown,
): JsonRpc {
  const node = connectNode();
  return { request: async (method, params) => answer(() => node.request(method, params), method, params) };
}

function startQueue(
  change: Partial<QueueSettings> = {},
  rpc: JsonRpc = connectNode(),
  recover: (call: ContractCall) => Work | null = () => null,
): TransactionQueue {
  // A queue ends its pass after its test, and must not write into the next one's log.
  const lines = log;
  const logger = pino({ level: "info" }, { write: (line: string) => lines.push(line) });
  const context = { clock: clockOf(now), random: () => 0, logger, closing: closing.signal };
  const client = createChainClient(42, rpc);
  const queue = new TransactionQueue(client, account, () => budget.open(), context, { ...SETTINGS, ...change });
  void queue.start(recover);
  return queue;
}

/** The queues that are started next are of another process. */
function beginProcess(): void {
  closing = new AbortController();
  // Each of the calls that a pass makes at once listens to it until it ends.
  setMaxListeners(0, closing.signal);
}

/** Ends the queues of a process, so that the next ones are of another. */
function endProcess(): void {
  closing.abort();
  beginProcess();
}

const call = (round: bigint, expiresAt = NEVER): RoundCall => ({
  ...{ to: OTHER_ACCOUNT, data: numberToHex(round, { size: 1 }), gas: 50_000n, round, expiresAt },
});
const job = (name: string, change: Partial<Work> = {}): Work => ({
  ...{
    subject: { dataset: OTHER_ACCOUNT, keys: [stringToHex(name)], accused: null },
    payer: null,
    charge: budget.open(),
    call: call(1n),
    renew: async () => call(2n),
    isStored: async () => false,
  },
  ...change,
});

/** Enqueues a task, and returns it once an endpoint has accepted its transaction, with the hash. */
async function enqueue(queue: TransactionQueue, work: Work, giveUpAt = now() + MAX_QUEUE_MS) {
  const task = new Task(work, giveUpAt);
  const { hash } = await queue.enqueue(task);
  return { hash, confirmed: task.confirmed };
}

const recoverAs =
  (name: string) =>
  ({ to }: ContractCall) =>
    to === OTHER_ACCOUNT ? job(name) : null;

function sign(nonce: number, gwei: bigint, from = account): Promise<Hex> {
  const fees = { maxFeePerGas: gwei * GWEI, maxPriorityFeePerGas: gwei * GWEI };
  return from.signTransaction({ chainId: 42, to: OTHER_ACCOUNT, gas: 30_000n, nonce, ...fees });
}

/** Sends a transaction of the account that the queue does not know. */
const sendForeign = async (nonce: number, gwei: bigint) =>
  chain.client.sendRawTransaction({ serializedTransaction: await sign(nonce, gwei) });

/** Returns the account's transactions in the pool, by nonce. */
async function pool() {
  const { pending, queued } = await chain.client.getTxpoolContent();
  const own = [pending, queued].flatMap((part) =>
    Object.entries(part).flatMap(([sender, all]) => (isOwn(sender as Hex) ? Object.values(all) : [])),
  );
  return own
    .map(({ nonce, hash, to, input, maxFeePerGas, maxPriorityFeePerGas }) => ({
      ...{ hash, to, input, nonce: Number(nonce) },
      ...{ maxFeePerGas: BigInt(maxFeePerGas ?? 0), tip: BigInt(maxPriorityFeePerGas ?? 0) },
    }))
    .toSorted((a, b) => a.nonce - b.nonce);
}
const inPool = (input: Hex) => until(async () => (await pool()).find((one) => one.input === input));
const cancellation = () => until(async () => (await pool()).find(({ input, to }) => input === "0x" && isOwn(to)));

test("several transactions are pending at once, each with its own nonce, up to maxPending", async () => {
  const queue = startQueue({ maxPending: 5 });
  const sends = Array.from({ length: 8 }, (_, i) => enqueue(queue, job(`K${i}`)));
  await until(async () => (await pool()).length === 5);
  expect((await pool()).map(({ nonce }) => nonce)).toEqual([0, 1, 2, 3, 4]);
  await mine();
  const sent = await Promise.all(sends);
  await until(async () => (await pool()).length === 3);
  await mine();
  const confirmed = await Promise.all(sent.map((one) => one.confirmed));
  expect(confirmed).toMatchObject(sent.map(({ hash }) => ({ hash, isReverted: false })));
  expect(await minedCount()).toBe(8);
  expect(queue.depth).toEqual({ waiting: 0, sent: 0 });
});

describe("a transaction that is stuck", () => {
  test("is replaced by the newest round of its key, or by the same call while there is none, with fees raised by more than 10%", async () => {
    let isThere = false;
    const renew = async () => (isThere ? call(2n) : Promise.reject(new Error("no quorum")));
    const { hash, confirmed } = await enqueue(startQueue(), job("K", { renew }));
    const [first] = await pool();
    getStuck();
    const second = await until(async () => (await pool()).find((one) => one.hash !== hash));
    expect(second).toMatchObject({ nonce: 0, input: "0x01" });
    expect(second.maxFeePerGas * 100n).toBeGreaterThan((first?.maxFeePerGas ?? 0n) * 110n);
    expect(second.tip * 100n).toBeGreaterThan((first?.tip ?? 0n) * 110n);
    isThere = true;
    getStuck();
    expect(await inPool("0x02")).toMatchObject({ nonce: 0 });
    await mine();
    expect(await confirmed).toMatchObject({ call: { round: 2n }, isReverted: false });
  });

  test("is cancelled when its round is too old, and its update is sent once a newer round is available", async () => {
    let isThere = false;
    const renew = async () => (isThere ? call(3n) : Promise.reject(new Error("no quorum")));
    const { confirmed } = await enqueue(startQueue(), job("K", { call: call(1n, now() + SETTINGS.stuckMs), renew }));
    getStuck();
    await cancellation();
    await mine();
    isThere = true;
    expect(await inPool("0x03")).toMatchObject({ nonce: 1 });
    await mine();
    expect(await confirmed).toMatchObject({ call: { round: 3n } });
  });
});

test("where no priority fee is offered, a stuck transaction is replaced and then cancelled, as strict nodes want it", async () => {
  const offered: { fee: bigint; tip: bigint }[] = [];
  // Anvil compares only the maximum fee. Geth wants more of both, and a tenth more.
  const raises = (before: bigint, after: bigint) => after > before && after * 10n >= before * 11n;
  const rpc = altered((ask, method, params) => {
    if (method !== "eth_sendRawTransaction") return ask();
    const { maxFeePerGas: fee = 0n, maxPriorityFeePerGas: tip = 0n } = parseTransaction(params[0] as Hex);
    const before = offered.at(-1);
    if (before !== undefined && !(raises(before.fee, fee) && raises(before.tip, tip)))
      throw new RpcError("refused", 42, method, "replacement transaction underpriced", null, "replacement_underpriced");
    offered.push({ fee, tip });
    return ask();
  });
  let renewals = 0;
  const renew = async () =>
    ++renewals === 1 ? call(2n, now() + SETTINGS.stuckMs) : Promise.reject(new Error("no quorum"));
  const queue = startQueue({ maxPriorityFeePerGas: 0n }, rpc);
  await enqueue(queue, job("K", { renew }));
  getStuck();
  await inPool("0x02");
  getStuck();
  await cancellation();
  expect(offered.map(({ tip }) => tip)).toEqual([0n, 1n, 2n]);
  await mine();
  await until(() => queue.counts.cancelled === 1 && queue.depth.sent === 0);
  expect(await minedCount()).toBe(1);
});

test("a transaction that was dropped from the pool is rebroadcast, and leaves no gap", async () => {
  const queue = startQueue();
  const sent = await Promise.all([0, 1, 2].map((i) => enqueue(queue, job(`K${i}`))));
  await chain.client.dropTransaction({ hash: sent[0]?.hash ?? "0x" });
  await until(() => queue.counts.rebroadcast > 0);
  await until(async () => (await pool()).length === 3);
  await mine();
  const confirmed = await Promise.all(sent.map((one) => one.confirmed));
  expect(confirmed.map((one) => one?.hash)).toEqual(sent.map(({ hash }) => hash));
});

describe("foreign transactions", () => {
  test("are cancelled when they are stuck, whatever their fees within the cap", async () => {
    // Far above what the chain asks, whatever the transactions before this one have paid.
    await sendForeign(0, 100n);
    startQueue();
    await untilLogged("was not sent by this process");
    getStuck();
    expect((await cancellation()).maxFeePerGas).toBeGreaterThan(100n * GWEI);
    await mine();
  });

  test("are recovered when they are updates, and replaced by the newest round when they are stuck", async () => {
    await enqueue(startQueue(), job("K"));
    endProcess();
    const queue = startQueue({}, connectNode(), recoverAs("K"));
    await until(() => queue.depth.sent === 1);
    getStuck();
    expect(await inPool("0x02")).toMatchObject({ nonce: 0 });
    await mine();
    await until(() => queue.depth.sent === 0);
  });

  test("are found behind a nonce gap, which is closed", async () => {
    await sendForeign(1, 3n);
    const queue = startQueue({}, connectNode(), recoverAs("L"));
    await until(async () => (await pool()).length === 2);
    await mine();
    await until(() => queue.depth.sent === 0);
    expect(await minedCount()).toBe(2);
  });

  test("that take an update's nonce do not lose the update: its newest round is sent", async () => {
    const queue = startQueue();
    const { confirmed } = await enqueue(queue, job("K"));
    await sendForeign(0, 100n);
    await mine();
    expect(await inPool("0x02")).toMatchObject({ nonce: 1 });
    await mine();
    expect(await confirmed).toMatchObject({ call: { round: 2n } });
    expect(queue.counts.lost).toBe(1);
  });
});

test("an update answered with a hash is not lost when a later update of its key gets no answer", async () => {
  let isUnreachable = false;
  const rpc = altered((ask, method) => {
    const concernsUpdate = method === "eth_sendRawTransaction" || method === "eth_getTransactionByHash";
    if (isUnreachable && concernsUpdate) throw new RpcError("timeout", 42, method, "no answer");
    return ask();
  });
  const queue = startQueue({ unseenMs: 60_000 }, rpc);
  const renew = async () => call(3n);
  await enqueue(queue, job("K", { renew }));
  isUnreachable = true;
  await expect(enqueue(queue, job("K", { call: call(2n), renew }))).rejects.toThrow(SubmissionUnknown);
  for (const nonce of [0, 1]) await sendForeign(nonce, 100n);
  await mine();
  isUnreachable = false;
  await inPool("0x03");
  await mine();
  await until(() => queue.depth.sent === 0);
});

test("an update that was promised is built anew if its round expires while it waits for a nonce", async () => {
  const queue = startQueue({ maxPending: 1 });
  let round = 2n;
  await enqueue(queue, job("K", { renew: async () => call(round++, now() + 5_000) }));
  const next = enqueue(queue, job("L", { call: call(9n) }));
  await sendForeign(0, 400n);
  await mine();
  const { confirmed } = await next;
  // K has lost its nonce, and L has the only place.
  await until(() => queue.depth.waiting === 1);
  passedMs += 5_000;
  await mine();
  await confirmed;
  const [sent] = await until(async () => {
    const pending = await pool();
    return pending.length > 0 && pending;
  });
  expect(sent).toMatchObject({ input: "0x03" });
});

test("feeds use the places that requests leave to them", async () => {
  const queue = startQueue({ maxPending: 4 });
  queue.reserveForOwn();
  const requests = Array.from({ length: 4 }, (_, i) => enqueue(queue, job(`K${i}`, { payer: "192.0.2.1" })));
  await Promise.all(requests.slice(0, 3));
  // No block is needed for it.
  await enqueue(queue, job("feed"));
  expect(queue.depth).toEqual({ waiting: 1, sent: 4 });
  await mine();
  await requests[3];
});

test("two processes with one sender get every update stored, and the log names the cause", async () => {
  const round = BigInt(Math.floor(Date.now() / 1000) + 60);
  // Each takes the other's pending transactions for its own.
  const recover = (pending: ContractCall) => job("other", { call: { ...call(1n), ...pending, round } });
  const queues = [startQueue({}, connectNode(), recover), startQueue({}, connectNode(), recover)];
  const sends = queues.flatMap((queue, i) =>
    [0, 1, 2].map((n) => enqueue(queue, job(`${i} ${n}`, { call: call(BigInt(10 * i + n)) }))),
  );
  const mining = setInterval(() => void mine(), 150);
  const results = await Promise.allSettled(sends.map(async (sent) => (await sent).confirmed));
  clearInterval(mining);
  // One may fail because the other was faster with its nonce. Nothing that was accepted is lost.
  const stored = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  expect(stored.length).toBeGreaterThan(0);
  for (const confirmed of stored) expect(confirmed).toMatchObject({ isReverted: false });
  // This one stays pending, so that the other process is sure to see it.
  await enqueue(queues[0] as TransactionQueue, job("0 3", { call: call(3n) }));
  await untilLogged("another process sends with this sender's key");
});

describe("a reorganization", () => {
  test("while pending transactions are recovered does not lose them", async () => {
    const earlier = startQueue();
    const { hash } = await enqueue(earlier, job("K"));
    await mine();
    const { blockNumber } = await chain.client.getTransactionReceipt({ hash });
    await enqueue(earlier, job("L", { call: call(3n) }));
    endProcess();
    const dropBlock = async () => {
      await reorganize(Number((await chain.client.getBlockNumber({ cacheTime: 0 })) - blockNumber) + 1);
    };
    let reorganization: Promise<void> | null = null;
    const rpc = altered(async (ask, method) => {
      // The counts are read already, and show the block that is dropped now.
      const isOfPool = method.startsWith("txpool") || method === "eth_getTransactionBySenderAndNonce";
      if (isOfPool) reorganization ??= dropBlock();
      if (isOfPool) await reorganization;
      return ask();
    });
    const queue = startQueue({}, rpc, (found) => job("L", { call: { ...found, round: 3n, expiresAt: NEVER } }));
    await untilLogged("recovered");
    await until(async () => {
      await mine();
      return (await minedCount()) === 2 && queue.depth.sent === 0;
    });
    // The update of the block that was dropped is unknown to this process: its nonce is a gap.
    expect(queue.counts).toMatchObject({ cancelled: 1, lost: 0 });
  });

  test("that drops an update is detected, and the newest round is sent", async () => {
    const queue = startQueue();
    const { confirmed } = await enqueue(queue, job("K"));
    await mine();
    expect(await confirmed).toMatchObject({ call: { round: 1n } });
    await reorganize(1);
    expect(await minedCount()).toBe(0);
    // The queue notices the reorganization at the next block.
    await mine();
    expect(await inPool("0x02")).toMatchObject({ nonce: 0 });
    expect(queue.counts.reorged).toBe(1);
    await mine();
    await until(() => queue.depth.sent === 0);
    expect(await minedCount()).toBe(1);
  });

  test("that drops an update is detected even if a newer update is already in the new chain", async () => {
    let isHeadHidden = false;
    let isNonceUsed = false;
    const rpc = altered(async (ask, method, params) => {
      if (isHeadHidden && method === "eth_blockNumber") throw new Error("no answer");
      const answer = await ask();
      // From then on the queue knows that the nonce is not free.
      if (isNonceUsed && method === "eth_getTransactionCount" && params.includes("latest")) isHeadHidden = false;
      return answer;
    });
    const queue = startQueue({}, rpc);
    const { confirmed } = await enqueue(queue, job("K"));
    await mine();
    await confirmed;
    isHeadHidden = true;
    await reorganize(1);
    // Another transaction takes the nonce that has become free.
    await sendForeign(0, 100n);
    await mine();
    expect(await minedCount()).toBe(1);
    isNonceUsed = true;
    await mine();
    expect(await inPool("0x02")).toMatchObject({ nonce: 1 });
    await mine();
    await until(() => queue.depth.sent === 0);
  });
});

test("an update that reverts without being stored is sent again with its newest round", async () => {
  // This code reverts if the first byte of the call is 1.
  await chain.client.setCode({ address: OTHER_ACCOUNT, bytecode: "0x5f355f1a6001146008575b00fe" });
  const { confirmed } = await enqueue(startQueue(), job("K"));
  await mine();
  await inPool("0x02").finally(() => chain.client.setCode({ address: OTHER_ACCOUNT, bytecode: "0x" }));
  await mine();
  expect(await confirmed).toMatchObject({ call: { round: 2n }, isReverted: false });
});

test("updates that wait at shutdown are rejected with shutting_down, and so are later ones", async () => {
  const queue = startQueue({ maxPending: 1 });
  const { confirmed } = await enqueue(queue, job("K"));
  const waiting = enqueue(queue, job("L"));
  await until(() => queue.depth.waiting === 1);
  closing.abort();
  await expect(waiting).rejects.toMatchObject({ fault: { kind: "shutting_down" } });
  await expect(enqueue(queue, job("M"))).rejects.toMatchObject({ fault: { kind: "shutting_down" } });
  expect(await confirmed).toBe(null);
});

test("what a signer does not sign is counted and fails its update, and a stuck one is replaced once it signs again", async () => {
  let isAway = true;
  const { signTransaction } = account;
  account = {
    ...account,
    signTransaction: (...args) => (isAway ? Promise.reject(new Error("away")) : signTransaction(...args)),
  } as PrivateKeyAccount;
  const queue = startQueue();
  await expect(enqueue(queue, job("K"))).rejects.toMatchObject({
    chainId: 42,
    fault: { kind: "signer_failed" },
  });
  expect(queue.counts).toMatchObject({ unsigned: 1, mined: 0 });
  isAway = false;
  const { confirmed } = await enqueue(queue, job("K"));
  isAway = true;
  getStuck();
  await until(() => queue.counts.unsigned > 1);
  isAway = false;
  await inPool("0x02");
  await mine();
  expect(await confirmed).toMatchObject({ call: { round: 2n } });
});

describe("the gas of a task", () => {
  const PAYER = "192.0.2.1";
  const HOUR_MS = 3_600_000;
  const PER_HOUR = 1_000_000;
  /** What the task's caller pays from; `budget` is the operator's own. */
  let callers: GasBudget;

  beforeEach(() => {
    callers = new GasBudget(clockOf(now), { perHour: BigInt(PER_HOUR) });
  });

  const charged = (to: GasBudget) => BigInt(Math.round(to.usedRatio * PER_HOUR));

  /** A job that has been admitted, as those of callers are. */
  function paidJob(name: string, change: Partial<Work> = {}): Work {
    const admitted = callers.admit(50_000n, PAYER);
    if (!admitted.ok) throw new Error("There is gas.");
    return job(name, { payer: PAYER, charge: admitted.charge, ...change });
  }

  /** What the latest transactions of the account with these nonces have used. */
  async function used(...nonces: readonly number[]): Promise<bigint> {
    const { number } = await chain.client.getBlock();
    const latest = Array.from(
      { length: 4 },
      (_, i) => ({ blockNumber: number - BigInt(i), includeTransactions: true }) as const,
    );
    const blocks = await Promise.all(latest.map((one) => chain.client.getBlock(one)));
    const own = blocks.flatMap(({ transactions }) => transactions.filter(({ from }) => isOwn(from)));
    const mined = nonces.map((each) => own.find(({ nonce }) => nonce === each)?.hash ?? "0x");
    const receipts = await Promise.all(mined.map((hash) => chain.client.getTransactionReceipt({ hash })));
    return receipts.reduce((sum, { gasUsed }) => sum + gasUsed, 0n);
  }

  test("is given back if it is refused, given up, not needed, or waits at shutdown", async () => {
    let refusal: string | null = "exceeds block gas limit";
    const rpc = altered((ask, method) => {
      if (method !== "eth_sendRawTransaction" || refusal === null) return ask();
      throw new RpcError("refused", 42, method, refusal, null, classifyNodeError(refusal));
    });
    const queue = startQueue({ maxPending: 1 }, rpc);
    await expect(enqueue(queue, paidJob("A"))).rejects.toMatchObject({ kind: "refused" });
    expect(charged(callers)).toBe(0n);
    refusal = null;
    await enqueue(queue, job("B"));
    const givenUp = enqueue(queue, paidJob("C"), now() + 1_000);
    passedMs += 1_001;
    await expect(givenUp).rejects.toMatchObject({ fault: { kind: "queue_full" } });
    expect(charged(callers)).toBe(0n);
    const [other] = queue.underway;
    await mine();
    const joined = enqueue(queue, paidJob("D", { findUnderway: () => other ?? null }));
    await expect(joined).rejects.toThrow(AlreadyUnderway);
    expect(charged(callers)).toBe(0n);
    await enqueue(queue, job("E"));
    const waiting = enqueue(queue, paidJob("F"));
    await until(() => queue.depth.waiting === 1);
    closing.abort();
    await expect(waiting).rejects.toMatchObject({ fault: { kind: "shutting_down" } });
    await expect(enqueue(queue, paidJob("G"))).rejects.toMatchObject({ fault: { kind: "shutting_down" } });
    expect(charged(callers)).toBe(0n);
  });

  test("is the most that a version of its transaction can use, and once one is mined, what that has used", async () => {
    const { confirmed } = await enqueue(
      startQueue(),
      paidJob("K", { renew: async () => ({ ...call(2n), gas: 80_000n }) }),
    );
    expect(charged(callers)).toBe(50_000n);
    getStuck();
    await inPool("0x02");
    expect(charged(callers)).toBe(80_000n);
    await mine();
    await confirmed;
    expect(charged(callers)).toBe(await used(0));
  });

  test("is given back if another transaction has taken its nonce and stored its round", async () => {
    const { confirmed } = await enqueue(startQueue(), paidJob("K", { isStored: async () => true }));
    await sendForeign(0, 100n);
    await mine();
    expect(await confirmed).toBe(null);
    expect(charged(callers)).toBe(0n);
  });

  test("includes the cancellation of its nonce", async () => {
    let isThere = false;
    const renew = async () => (isThere ? call(3n) : Promise.reject(new Error("no quorum")));
    const round = call(1n, now() + SETTINGS.stuckMs);
    const { confirmed } = await enqueue(startQueue(), paidJob("K", { call: round, renew }));
    getStuck();
    await cancellation();
    await mine();
    isThere = true;
    await inPool("0x03");
    await mine();
    await confirmed;
    expect(charged(callers)).toBe(await used(0, 1));
    expect(charged(budget)).toBe(0n);
  });

  test("includes what has reverted, even into debt, which delays what comes next for an hour", async () => {
    callers = new GasBudget(clockOf(now), { perHour: 60_000n });
    // This code uses all gas if the first byte of the call is 1.
    await chain.client.setCode({ address: OTHER_ACCOUNT, bytecode: "0x5f355f1a6001146008575b00fe" });
    const { confirmed } = await enqueue(startQueue(), paidJob("K"));
    await mine();
    await inPool("0x02").finally(() => chain.client.setCode({ address: OTHER_ACCOUNT, bytecode: "0x" }));
    await mine();
    await confirmed;
    const inDebt = Number(await used(0, 1)) / 60_000;
    expect(inDebt).toBeGreaterThan(1);
    expect(callers.usedRatio).toBeCloseTo(inDebt);
    expect(callers.admit(1n, "192.0.2.2")).toMatchObject({ ok: false, isShareSpent: false });
    passedMs += HOUR_MS;
    expect(callers.admit(1n, "192.0.2.2")).toMatchObject({ ok: true });
  });

  test("does not pay for a nonce gap, which the operator fills, and nobody for what the signer does not sign", async () => {
    let isAway = true;
    const { signTransaction } = account;
    await sendForeign(1, 3n);
    account = {
      ...account,
      signTransaction: (...args) => (isAway ? Promise.reject(new Error("away")) : signTransaction(...args)),
    } as PrivateKeyAccount;
    const queue = startQueue({}, connectNode(), () => job("L", { charge: callers.open() }));
    await until(() => queue.counts.unsigned > 2);
    expect(charged(budget)).toBe(0n);
    isAway = false;
    await cancellation();
    await mine();
    await until(() => queue.counts.mined === 2);
    expect([charged(budget), charged(callers)]).toEqual([await used(0), await used(1)]);
  });
});

// These come last, because anvil suggests the priority fees that were paid before.
describe("an RPC that refuses", () => {
  /** Lets the node refuse a transaction with an error; null lets it pass. */
  function refusing(refuse: (fees: { fee: bigint; tip: bigint }) => string | null, suggestedTip?: bigint) {
    const offers: { fee: bigint; tip: bigint }[] = [];
    const rpc = altered((ask, method, params) => {
      if (method === "eth_maxPriorityFeePerGas" && suggestedTip !== undefined) return numberToHex(suggestedTip);
      if (method !== "eth_sendRawTransaction") return ask();
      const { maxFeePerGas: fee = 0n, maxPriorityFeePerGas: tip = 0n } = parseTransaction(params[0] as Hex);
      offers.push({ fee, tip });
      const reason = refuse({ fee, tip });
      if (reason !== null) throw new RpcError("refused", 42, method, reason, null, classifyNodeError(reason));
      return ask();
    });
    return { rpc, offers };
  }

  const minimumTip = (least: bigint) => (offer: { tip: bigint }) =>
    offer.tip < least ? `transaction underpriced: gas tip cap ${offer.tip}, minimum needed ${least}` : null;

  test("a priority fee gets the minimum that it names, and the next transaction begins there", async () => {
    const { rpc, offers } = refusing(minimumTip(25n * GWEI), GWEI);
    const queue = startQueue({}, rpc);
    await enqueue(queue, job("K"));
    await enqueue(queue, job("L"));
    expect(offers.map(({ tip }) => tip)).toEqual([GWEI, 25n * GWEI, 25n * GWEI]);
    await mine();
    expect(await minedCount()).toBe(2);
  });

  test("a replacement or a cancellation gets higher fees in the background, within the caps", async () => {
    let least = 0n;
    const { rpc, offers } = refusing((offer) => minimumTip(least)(offer));
    const queue = startQueue({}, rpc);
    const { confirmed } = await enqueue(queue, job("K"));
    least = 60n * GWEI;
    getStuck();
    await until(() => queue.counts.replaced > 0);
    expect(offers.at(-1)).toMatchObject({ tip: 60n * GWEI });
    await mine();
    await confirmed;
    least = 101n * GWEI;
    await sendForeign(1, 1n);
    await untilLogged("was not sent by this process");
    getStuck();
    await untilLogged('"setting":"maxPriorityFeePerGasGwei"');
    expect(offers.at(-1)?.tip).toBeLessThanOrEqual(50n * GWEI);
    expect(queue.counts.cancelled).toBe(0);
    least = 40n * GWEI;
    await until(() => queue.counts.cancelled > 0);
    await mine();
  });

  test("fees as too low gets them raised up to the caps, and the usual ones again a minute later", async () => {
    let isRefusing = true;
    const { rpc, offers } = refusing(() => (isRefusing ? "transaction underpriced" : null));
    const queue = startQueue({}, rpc);
    const tooHigh = { fault: { kind: "fees_too_high", excess: { wanted: null, cap: parseGwei("50") } } };
    for (let i = 0; i < 2; i++) await expect(enqueue(queue, job(`K${i}`))).rejects.toMatchObject(tooHigh);
    isRefusing = false;
    await enqueue(queue, job("K"));
    expect(offers.at(-1)).toMatchObject({ fee: SETTINGS.maxFeePerGas });
    await mine();
    passedMs += 60_000;
    await enqueue(queue, job("L"));
    expect(offers.at(-1)?.fee).toBeLessThan(SETTINGS.maxFeePerGas / 2n);
    await mine();
  });
});

test("anvil's own messages are classified, and what was mined before it is submitted again counts as accepted", async () => {
  const send = async (raw: Promise<Hex>) =>
    connectNode()
      .request("eth_sendRawTransaction", [await raw])
      .catch(({ reason }: RpcError) => classifyNodeError(reason));
  expect(await send(sign(0, 10n))).toMatch(/^0x/);
  expect(await send(sign(0, 10n))).toBe("already_known");
  expect(await send(sign(0, 9n))).toBe("replacement_underpriced");
  expect(await send(sign(0, 10n, privateKeyToAccount(generatePrivateKey())))).toBe("insufficient_funds");
  await mine();
  expect(await send(sign(0, 11n))).toBe("nonce_too_low");

  const client = createChainClient(42, connectNode());
  const submit = async (raw: Hex) => submitRaw(client, raw, keccak256(raw));
  expect(await submit(await sign(0, 10n))).toEqual({ kind: "accepted" });
  expect(await submit(await sign(0, 12n))).toMatchObject({ kind: "rejected", error: { meaning: "nonce_too_low" } });
});
