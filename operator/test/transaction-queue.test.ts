import { pino } from "pino";
import { type Hex, numberToHex, parseGwei, parseTransaction } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createChainClient } from "../src/rpc/client.js";
import { connectEndpoint, type JsonRpc } from "../src/rpc/endpoint.js";
import { classifyNodeError } from "../src/rpc/node-errors.js";
import { RpcError } from "../src/rpc/rpc-error.js";
import { type Call, type Job, type RoundCall, SubmissionUnknown } from "../src/transactions/job.js";
import { type QueueSettings, TransactionQueue } from "../src/transactions/queue.js";
import { type Chain, OTHER_ACCOUNT, startChain } from "./support/chain.js";

/** These tests run transaction queues on a chain that mines only on demand. */

let chain: Chain;
let account: PrivateKeyAccount;
let closing: AbortController;
let log: string[];
/** How much time has passed for the queues beside the real time. */
let passedMs: number;

const SETTINGS: QueueSettings = {
  stuckMs: 60_000,
  unseenMs: 150,
  maxPending: 16,
  maxFeePerGas: parseGwei("500"),
  maxPriorityFeePerGas: parseGwei("50"),
  pollMs: 50,
  reorgDepth: 8,
  reservedForFeeds: 0,
};

beforeAll(async () => {
  chain = await startChain();
  await chain.client.setIntervalMining({ interval: 0 });
  await chain.client.setAutomine(false);
});

beforeEach(async () => {
  account = privateKeyToAccount(generatePrivateKey());
  await chain.fund(account.address);
  await chain.client.mine({ blocks: 1 });
  closing = new AbortController();
  log = [];
  passedMs = 0;
});

afterEach(() => closing.abort());

afterAll(async () => chain?.close());

const now = () => Date.now() + passedMs;
/** Lets the time pass after which a transaction is stuck. */
const getStuck = () => {
  passedMs += SETTINGS.stuckMs;
};

const connectNode = (): JsonRpc => connectEndpoint(42, chain.url, 2_000);

function startQueue(
  change: Partial<QueueSettings> = {},
  rpc: JsonRpc = connectNode(),
  recover: (call: Call) => Job<RoundCall> | null = () => null,
): TransactionQueue {
  // A queue ends its pass after its test, and must not write into the next one's log.
  const lines = log;
  const logger = pino({ level: "info" }, { write: (line: string) => lines.push(line) });
  const context = { clock: now, logger, closing: closing.signal };
  const queue = new TransactionQueue(createChainClient(42, rpc), account, { ...SETTINGS, ...change }, context);
  queue.start(recover);
  return queue;
}

const NEVER = Number.POSITIVE_INFINITY;

function call(round: bigint, expiresAt = NEVER): RoundCall {
  return { to: OTHER_ACCOUNT, data: numberToHex(round, { size: 1 }), gas: 50_000n, round, expiresAt };
}

function job(dataPointId: string, change: Partial<Job<RoundCall>> = {}): Job<RoundCall> {
  return {
    dataPointId,
    payer: null,
    call: call(1n),
    renew: async () => call(2n),
    isStored: async () => false,
    ...change,
  };
}

const unavailable = async () => {
  throw new Error("no quorum");
};
const isOwn = (address: Hex | undefined) => address?.toLowerCase() === account.address.toLowerCase();
const mine = () => chain.client.mine({ blocks: 1 });
const transactionOf = (hash: Hex) => chain.client.getTransaction({ hash });

async function until<T>(
  look: () => Promise<T | undefined | false> | T | undefined | false,
  expected: string,
): Promise<T> {
  const giveUpAt = Date.now() + 15_000;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (Date.now() > giveUpAt) throw new Error(`Not seen: ${expected}\n${log.join("")}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Sends a transaction of the account that the queue does not know. */
const sendForeign = async (nonce: number, gwei: bigint) => {
  const fees = { maxFeePerGas: gwei * parseGwei("1"), maxPriorityFeePerGas: gwei * parseGwei("1") };
  const signed = await account.signTransaction({ chainId: 42, to: OTHER_ACCOUNT, gas: 30_000n, nonce, ...fees });
  return chain.client.sendRawTransaction({ serializedTransaction: signed });
};

/** Returns the account's transactions in the pool, by nonce. */
async function pool(): Promise<{ nonce: number; hash: Hex; to: Hex; maxFeePerGas: bigint; tip: bigint; input: Hex }[]> {
  type Shown = Record<"nonce" | "hash" | "to" | "maxFeePerGas" | "maxPriorityFeePerGas" | "input", Hex>;
  const content = (await chain.client.request({ method: "txpool_content" } as never)) as {
    pending: Record<string, Record<string, Shown>>;
    queued: Record<string, Record<string, Shown>>;
  };
  const of = (part: Record<string, Record<string, Shown>>) =>
    Object.entries(part).flatMap(([sender, all]) =>
      sender.toLowerCase() === account.address.toLowerCase() ? Object.values(all) : [],
    );
  return [...of(content.pending), ...of(content.queued)]
    .map(({ nonce, hash, to, maxFeePerGas, maxPriorityFeePerGas, input }) => ({
      nonce: Number(nonce),
      hash,
      to,
      maxFeePerGas: BigInt(maxFeePerGas),
      tip: BigInt(maxPriorityFeePerGas),
      input,
    }))
    .toSorted((a, b) => a.nonce - b.nonce);
}

test("several transactions are pending at once, each with its own nonce, up to maxPending", async () => {
  const queue = startQueue({ maxPending: 5 });
  const sends = Array.from({ length: 8 }, (_, i) => queue.enqueue(job(`K${i}`)));
  await until(async () => (await pool()).length === 5, "five in the pool");
  expect((await pool()).map(({ nonce }) => nonce)).toEqual([0, 1, 2, 3, 4]);
  await mine();
  const sent = await Promise.all(sends);
  await until(async () => (await pool()).length === 3, "the rest in the pool");
  await mine();
  const confirmed = await Promise.all(sent.map((one) => one.confirmed));
  expect(confirmed.map((one) => one?.isReverted)).toEqual(Array(8).fill(false));
  expect(confirmed.map((one) => one?.hash)).toEqual(sent.map(({ hash }) => hash));
  expect(new Set(sent.map(({ hash }) => hash)).size).toBe(8);
  expect(await chain.nonce(account.address)).toBe(8);
  expect(queue.depth).toEqual({ waiting: 0, sent: 0 });
});

describe("a transaction that is stuck", () => {
  test("is replaced by the newest round of its key, with fees raised by more than 10%", async () => {
    const queue = startQueue();
    const { hash, confirmed } = await queue.enqueue(job("K"));
    const before = await transactionOf(hash);
    getStuck();
    const after = await until(async () => (await pool()).find((one) => one.hash !== hash), "a replacement");
    expect(after).toMatchObject({ nonce: 0, input: "0x02" });
    expect(after.maxFeePerGas * 100n).toBeGreaterThan((before.maxFeePerGas ?? 0n) * 110n);
    expect(after.tip * 100n).toBeGreaterThan((before.maxPriorityFeePerGas ?? 0n) * 110n);
    await mine();
    expect(await confirmed).toMatchObject({ call: { round: 2n }, isReverted: false });
    expect(await chain.nonce(account.address)).toBe(1);
  });

  test("is sent again with the same call while no newer round is available", async () => {
    const queue = startQueue();
    const { hash, confirmed } = await queue.enqueue(job("K", { renew: unavailable }));
    getStuck();
    await until(async () => (await pool()).find((one) => one.hash !== hash), "a replacement");
    await mine();
    const mined = await confirmed;
    expect(mined).toMatchObject({ call: { round: 1n } });
    expect(mined?.hash).not.toBe(hash);
  });

  test("is cancelled when its round is too old, and its update is sent once a newer round is available", async () => {
    let isThere = false;
    const renew = async () => (isThere ? call(3n) : unavailable());
    const queue = startQueue();
    const { confirmed } = await queue.enqueue(job("K", { call: call(1n, now() + SETTINGS.stuckMs), renew }));
    getStuck();
    const replaced = await until(async () => (await pool()).find(({ input }) => input === "0x"), "a cancellation");
    expect(isOwn(replaced.to)).toBe(true);
    await mine();
    isThere = true;
    await until(async () => (await pool())[0]?.nonce === 1, "the newest round");
    await mine();
    expect(await confirmed).toMatchObject({ call: { round: 3n } });
  });
});

test("a transaction that was dropped from the pool is rebroadcast, and leaves no gap", async () => {
  const queue = startQueue();
  const sent = await Promise.all([0, 1, 2].map((i) => queue.enqueue(job(`K${i}`))));
  await chain.client.dropTransaction({ hash: sent[0]?.hash ?? "0x" });
  await until(() => queue.counts.rebroadcast > 0, "it is rebroadcast");
  await until(async () => (await pool()).length === 3, "all three");
  await mine();
  const confirmed = await Promise.all(sent.map((one) => one.confirmed));
  expect(confirmed.map((one) => one?.hash)).toEqual(sent.map(({ hash }) => hash));
});

describe("foreign transactions", () => {
  test("are cancelled when they are stuck, whatever their fees within the cap", async () => {
    await sendForeign(0, 20n);
    startQueue();
    await until(() => log.join().includes("was not sent by this process"), "it is found");
    getStuck();
    await until(async () => (await pool()).some(({ input, to }) => input === "0x" && isOwn(to)), "it is cancelled");
    const [only] = await pool();
    expect(isOwn(only?.to)).toBe(true);
    expect(only?.maxFeePerGas).toBeGreaterThan(parseGwei("22"));
    await mine();
  });

  test("are recovered when they are updates, and replaced by the newest round when they are stuck", async () => {
    const old = startQueue();
    const { hash } = await old.enqueue(job("K"));
    closing.abort();
    closing = new AbortController();
    const queue = startQueue({}, undefined, (call) => (call.to === OTHER_ACCOUNT ? job("K") : null));
    await until(() => queue.depth.sent === 1, "it is recovered");
    getStuck();
    const after = await until(async () => (await pool()).find((one) => one.hash !== hash), "a replacement");
    expect(after).toMatchObject({ nonce: 0, input: "0x02" });
    await mine();
    await until(() => queue.depth.sent === 0, "it is mined");
  });

  test("are found behind a nonce gap, which is closed", async () => {
    await sendForeign(1, 3n);
    expect((await pool()).map(({ nonce }) => nonce)).toEqual([1]);
    const queue = startQueue({}, undefined, (call) => (call.to === OTHER_ACCOUNT ? job("L") : null));
    await until(async () => (await pool()).length === 2, "the gap is closed");
    await mine();
    await until(() => queue.depth.sent === 0, "both are mined");
    expect(await chain.client.getTransactionCount({ address: account.address })).toBe(2);
  });

  test("that take an update's nonce do not lose the update: its newest round is sent", async () => {
    const queue = startQueue();
    const { confirmed } = await queue.enqueue(job("K"));
    await sendForeign(0, 100n);
    await mine();
    await until(async () => (await pool())[0]?.nonce === 1, "the newest round");
    await mine();
    expect(await confirmed).toMatchObject({ call: { round: 2n } });
    expect(queue.counts.lost).toBe(1);
  });
});

test("an update answered with a hash is not lost when a later update of its key gets no answer", async () => {
  const rpc = connectNode();
  let isUnreachable = false;
  const queue = startQueue(
    { unseenMs: 60_000 },
    {
      request: async (method, ...rest) => {
        const concernsUpdate = method === "eth_sendRawTransaction" || method === "eth_getTransactionByHash";
        if (isUnreachable && concernsUpdate) throw new RpcError("timeout", 42, method, "no answer");
        return rpc.request(method, ...rest);
      },
    },
  );
  const renew = async () => call(3n);
  await queue.enqueue(job("K", { renew }));
  isUnreachable = true;
  await expect(queue.enqueue(job("K", { call: call(2n), renew }))).rejects.toThrow(SubmissionUnknown);
  for (const nonce of [0, 1]) await sendForeign(nonce, 100n);
  await mine();
  isUnreachable = false;
  await until(async () => (await pool()).some(({ input }) => input === "0x03"), "the newest round");
  await mine();
  await until(() => queue.depth.sent === 0, "it is mined");
});

test("feeds use the places that requests leave to them, and callers take turns", async () => {
  const queue = startQueue({ maxPending: 4, reservedForFeeds: 1 });
  const accepted: string[] = [];
  const send = (id: string, payer: string | null) =>
    queue.enqueue(job(id, { payer })).then(
      () => accepted.push(id),
      () => {},
    );
  for (let i = 0; i < 8; i++) void send(`greedy ${i}`, "192.0.2.1");
  await until(() => accepted.length === 3, "three of its requests");
  void send("other", "192.0.2.2");
  // No block is needed for it.
  await send("feed", null);
  expect(accepted).toEqual(["greedy 0", "greedy 1", "greedy 2", "feed"]);
  await mine();
  await until(() => accepted.length === 7, "three more requests");
  expect(accepted.slice(4, 6)).toContain("other");
});

test("two processes with one sender get every update stored, and the log names the cause", async () => {
  const startedAt = BigInt(Math.floor(Date.now() / 1000));
  const round = startedAt + 60n;
  // Each takes the other's pending transactions for its own.
  const recover = (pending: Call) => job("other", { call: { ...call(1n), ...pending, round } });
  const queues = [startQueue({}, connectNode(), recover), startQueue({}, connectNode(), recover)];
  const sends = queues.flatMap((queue, i) =>
    [0, 1, 2].map((n) => queue.enqueue(job(`${i} ${n}`, { call: call(BigInt(10 * i + n)) }))),
  );
  const mining = setInterval(() => void mine(), 150);
  const results = await Promise.allSettled(sends.map(async (sent) => (await sent).confirmed));
  clearInterval(mining);
  // One may fail because the other was faster with its nonce. Nothing that was accepted is lost.
  const stored = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  expect(stored.length).toBeGreaterThan(0);
  for (const confirmed of stored) expect(confirmed).toMatchObject({ isReverted: false });
  // This one stays pending, so that the other process is sure to see it.
  await queues[0]?.enqueue(job("0 3", { call: call(3n) }));
  await until(() => log.join("").includes("another process sends with this sender's key"), "the cause");
});

describe("a reorganization", () => {
  test("while pending transactions are recovered does not lose them", async () => {
    const earlier = startQueue();
    const { hash } = await earlier.enqueue(job("K"));
    await mine();
    const { blockNumber } = await chain.client.getTransactionReceipt({ hash });
    await earlier.enqueue(job("L", { call: call(3n) }));
    closing.abort();
    closing = new AbortController();

    const rpc = connectNode();
    const dropBlock = async () => {
      const depth = Number((await chain.client.getBlockNumber({ cacheTime: 0 })) - blockNumber) + 1;
      await chain.client.request({ method: "anvil_reorg", params: [depth, []] } as never);
    };
    let reorganization: Promise<void> | null = null;
    const reorganizing: JsonRpc = {
      request: async (method, ...rest) => {
        // The counts are read already, and show the block that is dropped now.
        if (method.startsWith("txpool") || method === "eth_getTransactionBySenderAndNonce") {
          reorganization ??= dropBlock();
          await reorganization;
        }
        return rpc.request(method, ...rest);
      },
    };
    const queue = startQueue({}, reorganizing, (found) =>
      job("L", { call: { ...found, round: 3n, expiresAt: NEVER } }),
    );
    await until(() => log.join("").includes("recovered"), "the recovery");
    const isStored = async () => {
      await mine();
      const mined = await chain.client.getTransactionCount({ address: account.address });
      return mined === 2 && queue.depth.sent === 0;
    };
    await until(isStored, "the recovered update");
    // The update of the block that was dropped is unknown to this process: its nonce is a gap.
    expect(queue.counts).toMatchObject({ cancelled: 1, lost: 0 });
  });

  test("that drops an update is detected, and the newest round is sent", async () => {
    const queue = startQueue();
    const { confirmed } = await queue.enqueue(job("K"));
    await mine();
    expect(await confirmed).toMatchObject({ call: { round: 1n } });
    await chain.client.request({ method: "anvil_reorg", params: [1, []] } as never);
    expect(await chain.client.getTransactionCount({ address: account.address })).toBe(0);
    // The queue notices the reorganization at the next block.
    await mine();
    const [again] = await until(async () => (await pool()).some(({ input }) => input === "0x02") && pool(), "round 2");
    expect(again?.nonce).toBe(0);
    expect(queue.counts.reorged).toBe(1);
    await mine();
    await until(() => queue.depth.sent === 0, "it is mined again");
    expect(await chain.client.getTransactionCount({ address: account.address })).toBe(1);
  });

  test("that drops an update is detected even if a newer update is already in the new chain", async () => {
    const rpc = connectNode();
    let isHeadHidden = false;
    const queue = startQueue(
      {},
      {
        request: async (method, ...rest) => {
          if (isHeadHidden && method === "eth_blockNumber") throw new Error("no answer");
          return rpc.request(method, ...rest);
        },
      },
    );
    const { confirmed } = await queue.enqueue(job("K"));
    await mine();
    expect(await confirmed).toMatchObject({ call: { round: 1n } });
    isHeadHidden = true;
    await chain.client.request({ method: "anvil_reorg", params: [1, []] } as never);
    // This update takes the nonce that has become free.
    const other = await queue.enqueue(job("L", { call: call(9n) }));
    await mine();
    expect(await other.confirmed).toMatchObject({ call: { round: 9n } });
    isHeadHidden = false;
    await mine();
    const [again] = await until(async () => (await pool()).some(({ input }) => input === "0x02") && pool(), "round 2");
    expect(again?.nonce).toBe(1);
    await mine();
    await until(() => queue.depth.sent === 0, "it is mined again");
  });

  test("is no longer detected once the update is reorgDepth blocks deep", async () => {
    const rpc = connectNode();
    let seen = 0n;
    const queue = startQueue(
      { reorgDepth: 2 },
      {
        request: async (method, ...rest) => {
          const result = await rpc.request(method, ...rest);
          if (method === "eth_blockNumber") seen = BigInt(result as Hex);
          return result;
        },
      },
    );
    const { confirmed } = await queue.enqueue(job("K"));
    await mine();
    await confirmed;
    await chain.client.mine({ blocks: 3 });
    const head = await chain.client.getBlockNumber({ cacheTime: 0 });
    await until(() => seen >= head, "the last block");
    await chain.client.request({ method: "anvil_reorg", params: [3, []] } as never);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(queue.counts.reorged).toBe(0);
  });
});

test("an update that reverts without being stored is sent again with its newest round", async () => {
  const queue = startQueue();
  // This code reverts if the first byte of the call is 1.
  await chain.client.setCode({ address: OTHER_ACCOUNT, bytecode: "0x5f355f1a6001146008575b00fe" });
  const { confirmed } = await queue.enqueue(
    job("K", { call: { ...call(1n), data: "0x01" }, renew: async () => ({ ...call(2n), data: "0x02" }) }),
  );
  await mine();
  await until(async () => (await pool())[0]?.nonce === 1, "the newest round").finally(() =>
    chain.client.setCode({ address: OTHER_ACCOUNT, bytecode: "0x" }),
  );
  await mine();
  expect(await confirmed).toMatchObject({ call: { round: 2n }, isReverted: false });
});

test("updates that wait at shutdown are rejected with shutting_down, and so are later ones", async () => {
  const queue = startQueue({ maxPending: 1 });
  const { confirmed } = await queue.enqueue(job("K"));
  const waiting = queue.enqueue(job("L"));
  await until(() => queue.depth.waiting === 1, "it waits");
  closing.abort();
  await expect(waiting).rejects.toMatchObject({ code: "shutting_down" });
  await expect(queue.enqueue(job("M"))).rejects.toMatchObject({ code: "shutting_down" });
  expect(await confirmed).toBe(null);
});

test("an update that waits too long because nothing is mined is rejected and leaves the queue", async () => {
  const queue = startQueue({ maxPending: 1 });
  await queue.enqueue(job("K"));
  const waiting = queue.enqueue(job("L"));
  passedMs += 31_000;
  await expect(waiting).rejects.toMatchObject({ code: "rpc_timeout", reason: "waited too long in the queue" });
  expect(queue.depth).toEqual({ waiting: 0, sent: 1 });
  await mine();
});

// These come last, because anvil suggests the priority fees that were paid before.
describe("an RPC that lies", () => {
  /** Answers some calls of a node differently, while `lie` is set. */
  function lying(lie: {
    answer: ((method: string, params: readonly unknown[], truth: unknown) => unknown) | null;
  }): JsonRpc {
    const node = connectNode();
    return {
      async request(method, params) {
        const truth = await node.request(method, params);
        return lie.answer === null ? truth : lie.answer(method, params, truth);
      },
    };
  }
  const addTo =
    (count: number, tags: readonly string[]) => (method: string, params: readonly unknown[], truth: unknown) =>
      method === "eth_getTransactionCount" && tags.includes(String(params[1]))
        ? numberToHex(Number(truth) + count)
        : truth;

  test("about 1,000 pending transactions makes the queue send nothing, and costs no nonce", async () => {
    const lie: Parameters<typeof lying>[0] = { answer: null };
    const queue = startQueue({}, lying(lie));
    const first = await queue.enqueue(job("K"));
    await mine();
    expect(await first.confirmed).toMatchObject({ isReverted: false });
    lie.answer = addTo(1_000, ["pending"]);
    await expect(queue.enqueue(job("L"))).rejects.toMatchObject({ code: "rpc_failed" });
    getStuck();
    await expect(queue.enqueue(job("L"))).rejects.toMatchObject({ code: "rpc_failed" });
    expect(await pool()).toEqual([]);
    lie.answer = null;
    // A pass that has begun still believes the lie, and refuses.
    const second = await vi.waitFor(() => queue.enqueue(job("M")), { timeout: 20_000 });
    await mine();
    expect(await second.confirmed).toMatchObject({ isReverted: false });
    expect(await chain.nonce(account.address)).toBe(2);
  });

  test("about a few pending transactions that its pool does not show makes the queue cancel none", async () => {
    const lie: Parameters<typeof lying>[0] = { answer: addTo(3, ["pending"]) };
    const queue = startQueue({}, lying(lie));
    await until(() => log.join().includes("was not sent by this process"), "the foreign transactions");
    let passes = 0;
    const counting = (answer: NonNullable<typeof lie.answer>) => {
      passes = 0;
      lie.answer = (method, params, truth) => {
        if (method === "eth_getTransactionCount" && params[1] === "pending") passes++;
        return answer(method, params, truth);
      };
    };
    getStuck();
    counting(addTo(3, ["pending"]));
    await until(() => passes >= 2, "passes that were told the lie");
    expect(await pool()).toEqual([]);
    // A pass that has begun still believes the lie.
    counting((_method, _params, truth) => truth);
    await until(() => passes >= 2, "passes that were told the truth");
    const { confirmed } = await queue.enqueue(job("K"));
    await mine();
    expect(await confirmed).toMatchObject({ isReverted: false });
    expect(await chain.nonce(account.address)).toBe(1);
  });

  /** Lets the node refuse a transaction with an error; null lets it pass. */
  function refusing(refuse: (fees: { fee: bigint; tip: bigint }) => string | null, answers: Record<string, Hex> = {}) {
    const node = connectNode();
    const offers: { fee: bigint; tip: bigint }[] = [];
    const rpc: JsonRpc = {
      async request(method, params) {
        if (method in answers) return answers[method];
        if (method !== "eth_sendRawTransaction") return node.request(method, params);
        const { maxFeePerGas: fee = 0n, maxPriorityFeePerGas: tip = 0n } = parseTransaction(params[0] as Hex);
        offers.push({ fee, tip });
        const reason = refuse({ fee, tip });
        if (reason !== null) throw new RpcError("refused", 42, method, reason, null, classifyNodeError(reason));
        return node.request(method, params);
      },
    };
    return { rpc, offers };
  }

  const GWEI = parseGwei("1");
  const minimumTip = (least: bigint) => (offer: { tip: bigint }) =>
    offer.tip < least ? `transaction underpriced: gas tip cap ${offer.tip}, minimum needed ${least}` : null;

  test("about the priority fee is answered with the minimum that it names, and the next transaction begins there", async () => {
    const { rpc, offers } = refusing(minimumTip(25n * GWEI), { eth_maxPriorityFeePerGas: numberToHex(GWEI) });
    const queue = startQueue({}, rpc);
    await queue.enqueue(job("K"));
    await queue.enqueue(job("L"));
    expect(offers.map(({ tip }) => tip)).toEqual([GWEI, 25n * GWEI, 25n * GWEI]);
    await mine();
    expect(await chain.nonce(account.address)).toBe(2);
  });

  test("about fees that a cap forbids fails the request, and names the setting and the minimum", async () => {
    const { rpc, offers } = refusing(minimumTip(51n * GWEI));
    await expect(startQueue({}, rpc).enqueue(job("K"))).rejects.toMatchObject({
      code: "fees_too_high",
      title: expect.stringContaining("asks for 51 gwei per gas, and this operator offers at most 50 gwei"),
      detail: expect.stringContaining("maxPriorityFeePerGasGwei"),
    });
    expect(offers).toHaveLength(1);
  });

  test("about a replacement or a cancellation raises its fees in the background, within the caps", async () => {
    let least = 0n;
    const { rpc, offers } = refusing((offer) => minimumTip(least)(offer));
    const queue = startQueue({}, rpc);
    const { confirmed } = await queue.enqueue(job("K"));
    least = 60n * GWEI;
    getStuck();
    await until(() => queue.counts.replaced > 0, "a replacement");
    expect(offers.at(-1)).toMatchObject({ tip: 60n * GWEI });
    await mine();
    await confirmed;
    least = 101n * GWEI;
    await sendForeign(1, 1n);
    await until(() => log.join().includes("was not sent by this process"), "it is found");
    getStuck();
    await until(() => log.some((line) => line.includes('"setting":"maxPriorityFeePerGasGwei"')), "a warning");
    expect(offers.at(-1)?.tip).toBeLessThanOrEqual(50n * GWEI);
    expect(queue.counts.cancelled).toBe(0);
    least = 40n * GWEI;
    await until(() => queue.counts.cancelled > 0, "a cancellation");
    await mine();
  });

  test("about fees being too low makes the queue raise them up to the caps, and use the usual ones again a minute later", async () => {
    let isRefusing = true;
    const { rpc } = refusing(() => (isRefusing ? "transaction underpriced" : null));
    const queue = startQueue({}, rpc);
    const tooHigh = { code: "fees_too_high", title: expect.stringContaining("asks for more than 50 gwei") };
    for (let i = 0; i < 2; i++) await expect(queue.enqueue(job(`K${i}`))).rejects.toMatchObject(tooHigh);
    isRefusing = false;
    const { hash } = await queue.enqueue(job("K"));
    expect(await transactionOf(hash)).toMatchObject({ maxFeePerGas: SETTINGS.maxFeePerGas });
    await mine();
    passedMs += 60_000;
    const later = await transactionOf((await queue.enqueue(job("L"))).hash);
    expect(later.maxFeePerGas).toBeLessThan(SETTINGS.maxFeePerGas / 2n);
    await mine();
  });
});

test("a transaction that its signer does not sign is counted, and its update fails", async () => {
  account = { ...account, signTransaction: () => Promise.reject(new Error("the signer is away")) };
  const queue = startQueue();
  await expect(queue.enqueue(job("a"))).rejects.toThrow();
  expect(queue.counts).toMatchObject({ unsigned: 1, mined: 0 });
});
