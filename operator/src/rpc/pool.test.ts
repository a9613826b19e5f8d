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
    ["is asked too often", { answer: { error: { code: 429, message: "Too many concurrent requests" } } }],
    ["gave up waiting", { answer: { error: { code: -32603, message: "Timeout expired" } } }],
  ])("goes to the second when the first %s", async (_, change) => {
    const [first, second] = [await rpcs.start(), await rpcs.start({ answer: { result: "0x2" } })];
    const client = await rpcs.connect(first, second);
    Object.assign(first, change);
    expect(await gasPrice(client)).toBe(2n);
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
      await rpcs.start({ head: 0, ...refusal("busy") }),
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

  test("that all refuse is refused with the message of the first", async () => {
    const client = await rpcs.connect(await rpcs.start(refusal("nonce too low")), await rpcs.start(refusal("busy")));
    await expect(send(client)).rejects.toMatchObject({ kind: "refused", reason: "-32000: nonce too low" });
  });

  test("that one refuses and another does not answer may have been accepted", async () => {
    const [first, second] = [await rpcs.start(refusal("nonce too low")), await rpcs.start()];
    const client = await rpcs.connect(first, second);
    second.mode = "hangs";
    await expect(send(client)).rejects.toMatchObject({ kind: "timeout" });
  });
});
