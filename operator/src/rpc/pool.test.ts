import { getGasPrice, sendRawTransaction } from "viem/actions";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { HASH, NOW, RPC_TIMEOUT_MS, StubRpcs } from "../../test/support/stub-rpcs.js";
import type { ChainClient } from "./client.js";
import { RpcError, unwrapRpcError } from "./rpc-error.js";

let rpcs: StubRpcs;

beforeEach(() => {
  rpcs = new StubRpcs();
});

afterEach(() => rpcs.close());

const gasPrice = (client: ChainClient) => unwrapRpcError(client, "eth_gasPrice", getGasPrice(client));

const until = (what: () => boolean | Promise<boolean>) => vi.waitUntil(what, { timeout: 30_000, interval: 10 });

describe("a read", () => {
  test("goes to the first endpoint, and to the second when the first fails", async () => {
    const [first, second] = [await rpcs.start(), await rpcs.start({ answer: { result: "0x2" } })];
    const client = await rpcs.connect(first, second);
    expect(await gasPrice(client)).toBe(1n);
    first.mode = "HTTP 500";
    expect(await gasPrice(client)).toBe(2n);
  });

  test.each([
    ["hangs", { mode: "hangs" as const }],
    ["answers in an unexpected shape", { answer: { result: "fast" } }],
    ["answers another request", { answer: { id: 999, result: "0x1" } }],
    ["answers no request", { answer: { id: null, result: "0x1" } }],
    ["is asked too often", { answer: { error: { code: 429, message: "Too many concurrent requests" } } }],
    ["gave up waiting", { answer: { error: { code: -32603, message: "Timeout expired" } } }],
  ])("goes to the second when the first %s", async (_, change) => {
    const [first, second] = [await rpcs.start(), await rpcs.start({ answer: { result: "0x2" } })];
    const client = await rpcs.connect(first, second);
    Object.assign(first, change);
    expect(await gasPrice(client)).toBe(2n);
  });

  test.each([
    ["lags", { code: -32000, message: "header not found" }],
    ["has lost state", { code: -32000, message: "missing trie node 0abc (path ) state 0xabc is not available" }],
    ["does not know the block", { code: -32001, message: "Unknown block" }],
    ["does not know the method", { code: -32601, message: "the method does not exist/is not available" }],
    ["says something unknown", { code: -32000, message: "not today" }],
  ])("goes to the second when the first %s, which stays in use for other calls", async (_, error) => {
    const [first, second] = [await rpcs.start({ answer: { error } }), await rpcs.start({ answer: { result: "0x2" } })];
    const client = await rpcs.connect(first, second);
    expect(await gasPrice(client)).toBe(2n);
    expect(client.endpoints().map(({ ready }) => ready)).toEqual([true, true]);
    expect(rpcs.log.join()).not.toContain("RPC endpoint failed");
  });

  test.each([403, 413])("goes to the second when the first answers HTTP %i to this call only", async (status) => {
    const [first, second] = [await rpcs.start({ status, answer: {} }), await rpcs.start({ answer: { result: "0x2" } })];
    const client = await rpcs.connect(first, second);
    expect(await gasPrice(client)).toBe(2n);
    expect(client.endpoints()[0]?.ready).toBe(true);
  });

  test("goes first to others for ten minutes when an endpoint does not offer it, and to all when none does", async () => {
    const missing = { error: { code: -32601, message: "the method does not exist/is not available" } };
    const [first, second] = [await rpcs.start({ answer: missing }), await rpcs.start({ answer: { result: "0x2" } })];
    const client = await rpcs.connect(first, second);
    const asked = () => [first, second].map((node) => node.asked.splice(0).includes("eth_gasPrice"));
    await gasPrice(client);
    expect(asked()).toEqual([true, true]);
    expect(client.endpoints().map(({ without }) => without)).toEqual([["eth_gasPrice"], []]);
    await gasPrice(client);
    expect(asked()).toEqual([false, true]);
    second.answer = missing;
    await expect(gasPrice(client)).rejects.toMatchObject({ kind: "refused", meaning: "not_offered" });
    expect(asked()).toEqual([true, true]);
    first.answer = { result: "0x1" };
    expect(await gasPrice(client)).toBe(1n);
    expect(client.endpoints().map(({ without }) => without)).toEqual([[], ["eth_gasPrice"]]);
    const lines = rpcs.log
      .map((line) => JSON.parse(line))
      .map(({ endpoint, request, msg }) => [endpoint, request, msg]);
    expect(lines).toEqual([
      ["rpcUrls/0", "eth_gasPrice", "RPC endpoint does not offer this"],
      ["rpcUrls/1", "eth_gasPrice", "RPC endpoint does not offer this"],
      ["rpcUrls/0", "eth_gasPrice", "RPC endpoint answers such requests again"],
    ]);
    rpcs.nowMs += 600_000;
    second.answer = { result: "0x2" };
    first.answer = missing;
    expect(await gasPrice(client)).toBe(2n);
  });

  test("of a contract goes to the second when the first has none there, unless all say so", async () => {
    const [first, second] = [await rpcs.start({ answer: { result: "0x" } }), await rpcs.start({ mode: "HTTP 500" })];
    const client = await rpcs.connect(first, second);
    const read = () =>
      client.request({ method: "eth_call", params: [{ to: `0x${"1".repeat(40)}` }, "latest"] } as never);
    expect(await read()).toBe("0x");
    Object.assign(second, { mode: "answers", answer: { result: HASH } });
    rpcs.nowMs += 1_000;
    await until(() => client.endpoints()[1]?.ready === true);
    expect(await read()).toBe(HASH);
  });

  test("has what all endpoints say alike as its answer", async () => {
    const answer = { error: { code: -32000, message: "not today" } };
    const client = await rpcs.connect(await rpcs.start({ answer }), await rpcs.start({ answer }));
    await expect(gasPrice(client)).rejects.toMatchObject({ kind: "refused", reason: "-32000: not today" });
    expect(client.isReady()).toBe(true);
  });

  test("that a node refuses is not retried, because another node would answer the same", async () => {
    const refusal = { error: { code: 3, message: "execution reverted", data: "0x12" } };
    const [first, second] = [await rpcs.start({ answer: refusal }), await rpcs.start()];
    const client = await rpcs.connect(first, second);
    await expect(gasPrice(client)).rejects.toMatchObject({ kind: "refused", data: "0x12" });
    expect(second.asked).not.toContain("eth_gasPrice");
  });

  test("does not go to an endpoint that is behind, until it has caught up", async () => {
    const [first, second] = [await rpcs.start({ head: 96 }), await rpcs.start({ answer: { result: "0x2" } })];
    const client = await rpcs.connect(first, second);
    expect(await gasPrice(client)).toBe(2n);
    first.head = 100;
    await until(async () => (await gasPrice(client)) === 1n);
  });

  test("does not go to an endpoint whose head is from the future, whatever its number", async () => {
    const liar = await rpcs.start({ head: 1_000_000, timestamp: NOW + 3_600 });
    const client = await rpcs.connect(liar, await rpcs.start({ answer: { result: "0x2" } }));
    expect(await gasPrice(client)).toBe(2n);
  });

  test("names the network by its id when all endpoints fail, and succeeds at once when one is back", async () => {
    const nodes = [await rpcs.start(), await rpcs.start({ answer: { result: "0x2" } })];
    const client = await rpcs.connect(...nodes);
    for (const node of nodes) node.mode = "HTTP 500";
    const error = await gasPrice(client).catch((reason: Error) => reason);
    expect(error).toMatchObject({ status: 502, code: "rpc_failed", title: "The RPC of network 42 failed." });
    expect(client.isReady()).toBe(false);
    for (const node of nodes) node.mode = "answers";
    // The clock has not advanced, so both are still in quarantine.
    expect([1n, 2n]).toContain(await gasPrice(client));
    expect(client.isReady()).toBe(true);
  });
});

describe("an endpoint that failed", () => {
  test("is not used for as long as it asks, up to a minute, unless no other is left", async () => {
    const busy = { status: 429, answer: {}, retryAfter: "30" };
    const [first, second] = [await rpcs.start(busy), await rpcs.start({ answer: { result: "0x2" } })];
    const client = await rpcs.connect(first, second);
    expect(await gasPrice(client)).toBe(2n);
    expect(JSON.parse(rpcs.log[0] ?? "{}")).toMatchObject({ endpoint: "rpcUrls/0", quarantinedMs: 30_000 });
    Object.assign(first, { status: 200, answer: { result: "0x1" } });
    expect(await gasPrice(client)).toBe(2n);
    second.mode = "HTTP 500";
    await gasPrice(client).catch(() => {});
    expect(await gasPrice(client)).toBe(1n);
  });

  test("is not used while it answers HTTP 403 to everything, and the log says so once", async () => {
    const [first, second] = [await rpcs.start(), await rpcs.start({ answer: { result: "0x2" } })];
    const client = await rpcs.connect(first, second);
    first.mode = "HTTP 403";
    const checks = first.asked.length;
    /** Lets time pass until something is so. A check that has begun can end after a step. */
    const untilLater = (what: () => boolean) =>
      until(() => {
        rpcs.nowMs += 1_000;
        return what();
      });
    await untilLater(() => first.asked.length >= checks + 5 && client.endpoints()[0]?.ready === false);
    expect(rpcs.log.filter((line) => line.includes("RPC endpoint failed")).length).toBe(1);
    expect(await gasPrice(client)).toBe(2n);
    first.mode = "answers";
    await untilLater(() => client.endpoints()[0]?.ready === true);
    expect(rpcs.log.filter((line) => line.includes("RPC endpoint is back")).length).toBe(1);
  });

  test("is not used in quarantine, and must answer its chain id afterwards", async () => {
    const [first, second] = [await rpcs.start({ mode: "answers" }), await rpcs.start({ answer: { result: "0x2" } })];
    const client = await rpcs.connect(first, second);
    first.mode = "HTTP 500";
    await gasPrice(client);
    // A check that has begun ends before the endpoint is well.
    await new Promise((resolve) => setTimeout(resolve, 100));
    first.mode = "answers";
    first.asked.length = 0;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(first.asked).toEqual([]);
    rpcs.nowMs += 1_000;
    await until(() => rpcs.log.join().includes("RPC endpoint is back"));
    expect(first.asked[0]).toBe("eth_chainId");
    expect(await gasPrice(client)).toBe(1n);
  });

  test("is not used when it comes back with another chain id", async () => {
    const [first, second] = [await rpcs.start(), await rpcs.start({ answer: { result: "0x2" } })];
    const client = await rpcs.connect(first, second);
    first.mode = "HTTP 500";
    await gasPrice(client);
    Object.assign(first, { mode: "answers", chainId: 43, asked: [] });
    rpcs.nowMs += 1_000;
    await until(() => rpcs.log.some((line) => line.includes("belongs to network 43")));
    expect(await gasPrice(client)).toBe(2n);
    expect(first.asked).not.toContain("eth_gasPrice");
  });

  test("is not used any more when it begins to answer for another chain", async () => {
    const [first, second] = [await rpcs.start(), await rpcs.start({ answer: { result: "0x2" } })];
    const client = await rpcs.connect(first, second);
    Object.assign(first, { chainId: 43, asked: [] });
    rpcs.nowMs += 60_000;
    for (const node of [first, second]) node.timestamp += 60;
    await until(() => rpcs.log.some((line) => line.includes("belongs to network 43")));
    expect(await gasPrice(client)).toBe(2n);
    expect(first.asked).not.toContain("eth_gasPrice");
  });

  test("is named in the log by its index: no line holds its URL", async () => {
    const [first, second] = [await rpcs.start(), await rpcs.start()];
    const client = await rpcs.connect(first, second);
    first.mode = "HTTP 500";
    await gasPrice(client);
    const line = JSON.parse(rpcs.log[0] ?? "{}");
    expect(line).toMatchObject({ endpoint: "rpcUrls/0", msg: "RPC endpoint failed", quarantinedMs: 1_000 });
    expect(rpcs.log.join()).not.toMatch(/secret-token|127\.0\.0\.1/);
  });
});

test("a call at every endpoint gives the answers of those that answer", async () => {
  const nodes = [await rpcs.start(), await rpcs.start({ answer: { result: "0x2" } }), await rpcs.start()];
  const client = await rpcs.connect(...nodes);
  Object.assign(nodes[2] ?? {}, { mode: "hangs" });
  expect(await client.requestEach("eth_gasPrice", [])).toEqual(["0x1", "0x2"]);
  for (const node of nodes) node.mode = "HTTP 500";
  await expect(client.requestEach("eth_gasPrice", [])).rejects.toThrow(RpcError);
});

describe("the start", () => {
  test("does not need every endpoint, and without any the calls fail until one answers", async () => {
    const dead = await rpcs.start({ mode: "HTTP 500" });
    const client = await rpcs.connect(dead, await rpcs.start({ answer: { result: "0x2" } }));
    expect(await gasPrice(client)).toBe(2n);
    const without = await rpcs.connect(dead);
    expect(without.isReady()).toBe(false);
    await expect(gasPrice(without)).rejects.toMatchObject({ code: "rpc_failed" });
    dead.mode = "answers";
    expect(await gasPrice(without)).toBe(1n);
  });

  test.each([
    [[42, 43], "rpcUrls/1 belongs to network 43, but rpcUrls/0 to network 42"],
    [[43, 42], "rpcUrls/0 belongs to network 43, but rpcUrls/1 to network 42"],
    [[43], "rpcUrls/0 belongs to network 43"],
  ])("fails when the endpoints serve the chains %s, and names one of each", async (chainIds, problem) => {
    const nodes = await Promise.all(chainIds.map((chainId) => rpcs.start({ chainId })));
    await expect(rpcs.connect(...nodes)).rejects.toThrow(`network 42: ${problem}. Correct rpcUrls.`);
  });
});

describe("a transaction", () => {
  const send = (client: ChainClient) =>
    unwrapRpcError(client, "eth_sendRawTransaction", sendRawTransaction(client, { serializedTransaction: "0x01" }));
  const refusal = (message: string) => ({ answer: { error: { code: -32000, message } } });

  test("goes to all endpoints, including those that are behind, and needs one that accepts it", async () => {
    const nodes = [
      await rpcs.start(refusal("nonce too low")),
      await rpcs.start({ answer: { result: HASH } }),
      await rpcs.start({ head: 0, ...refusal("underpriced") }),
    ];
    const client = await rpcs.connect(...nodes);
    expect(await send(client)).toBe(HASH);
    await until(() => nodes.every(({ asked }) => asked.includes("eth_sendRawTransaction")));
  });

  test("is answered by the fastest endpoint", async () => {
    const [first, second] = [await rpcs.start(), await rpcs.start({ answer: { result: HASH } })];
    const client = await rpcs.connect(first, second);
    first.mode = "hangs";
    const started = performance.now();
    expect(await send(client)).toBe(HASH);
    expect(performance.now() - started).toBeLessThan(RPC_TIMEOUT_MS);
  });

  test.each([
    ["underpriced", "transaction underpriced: gas tip cap 1, minimum needed 2"],
    ["the method does not exist/is not available", "insufficient funds for gas * price + value"],
    ["insufficient funds", "nonce too low"],
  ])("that all refuse, with %s and %s, is refused with the reason that says more", async (less, more) => {
    const client = await rpcs.connect(await rpcs.start(refusal(less)), await rpcs.start(refusal(more)));
    await expect(send(client)).rejects.toMatchObject({ kind: "refused", reason: `-32000: ${more}` });
  });

  test.each([
    ["says something unknown", { ...refusal("not today") }],
    ["is a gateway without a node", { ...refusal("busy"), status: 503 }],
    ["does not let it through", { answer: {}, status: 403 }],
  ])("that one refuses and another %s may have been accepted", async (_, other) => {
    const client = await rpcs.connect(await rpcs.start(refusal("nonce too low")), await rpcs.start(other));
    await expect(send(client)).rejects.toMatchObject({ kind: "failed" });
  });

  test("that one already has is accepted, whatever another says", async () => {
    const [first, second] = [await rpcs.start(), await rpcs.start(refusal("already known"))];
    const client = await rpcs.connect(first, second);
    first.mode = "hangs";
    await expect(send(client)).rejects.toMatchObject({ kind: "refused", meaning: "already_known" });
  });

  test("that one refuses and another does not answer may have been accepted", async () => {
    const [first, second] = [await rpcs.start(refusal("nonce too low")), await rpcs.start()];
    const client = await rpcs.connect(first, second);
    second.mode = "hangs";
    await expect(send(client)).rejects.toMatchObject({ kind: "timeout" });
  });
});
