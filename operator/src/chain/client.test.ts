import Fastify from "fastify";
import { pino } from "pino";
import { encodeErrorResult, numberToHex, parseAbi } from "viem";
import { getGasPrice, sendRawTransaction } from "viem/actions";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ChainClient, connectChain, unwrapRpcError } from "./client.js";
import { readQueryPrice } from "./dataset-views.js";
import { RpcError } from "./rpc-error.js";

/** Nodes of network 42 that answer from a table, over real HTTP. */
interface Node {
  readonly url: string;
  readonly asked: string[];
  chainId: number;
  head: number;
  /** Seconds since 1970. */
  timestamp: number;
  /** The answer to `eth_gasPrice` and `eth_sendRawTransaction`. */
  answer: object;
  mode: "well" | "hangs" | "HTTP 500";
}

const NOW = 1_700_000_000;
const HASH = `0x${"1".repeat(64)}`;
let closers: (() => Promise<void>)[];
let nowMs: number;
let log: string[];
let closing: AbortController;

beforeEach(() => {
  closers = [];
  nowMs = NOW * 1000;
  log = [];
  closing = new AbortController();
});

afterEach(async () => {
  closing.abort();
  await Promise.all(closers.map((close) => close()));
});

async function startNode(change: Partial<Node> = {}): Promise<Node> {
  const server = Fastify({ forceCloseConnections: true });
  server.post("/secret-token", async (request, reply) => {
    const { id, method } = request.body as { id: number; method: string };
    node.asked.push(method);
    if (node.mode === "hangs") return new Promise(() => {});
    if (node.mode === "HTTP 500") return reply.status(500).send("");
    const results: Record<string, object> = {
      eth_chainId: { result: numberToHex(node.chainId) },
      eth_getBlockByNumber: {
        result: { number: numberToHex(node.head), hash: HASH, timestamp: numberToHex(node.timestamp) },
      },
    };
    return { jsonrpc: "2.0", id, ...(results[method] ?? node.answer) };
  });
  const url = `${await server.listen({ host: "127.0.0.1", port: 0 })}/secret-token`;
  closers.push(() => server.close());
  const node: Node = {
    url,
    asked: [],
    chainId: 42,
    head: 100,
    timestamp: NOW,
    answer: { result: "0x1" },
    mode: "well",
    ...change,
  };
  return node;
}

const connect = (...nodes: Node[]) =>
  connectChain(
    42,
    nodes.map(({ url }) => url),
    { timeoutMs: 300, pollMs: 20, lag: { blocks: 3, seconds: 30 } },
    {
      clock: () => nowMs,
      logger: pino({ level: "info" }, { write: (line: string) => log.push(line) }),
      closing: closing.signal,
    },
  );

const gasPrice = (client: ChainClient) => unwrapRpcError(client, "eth_gasPrice", getGasPrice(client));

async function until(what: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = Date.now() + 30_000;
  while (!(await what())) {
    if (Date.now() > giveUpAt) throw new Error("It does not happen.");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe("a read", () => {
  test("goes to the first endpoint, and to the second when the first fails", async () => {
    const [first, second] = [await startNode(), await startNode({ answer: { result: "0x2" } })];
    const client = await connect(first, second);
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
    const [first, second] = [await startNode(), await startNode({ answer: { result: "0x2" } })];
    const client = await connect(first, second);
    Object.assign(first, change);
    expect(await gasPrice(client)).toBe(2n);
  });

  test("that a node refuses is not retried, because another node would answer the same", async () => {
    const refusal = { error: { code: 3, message: "execution reverted", data: "0x12" } };
    const [first, second] = [await startNode({ answer: refusal }), await startNode()];
    const client = await connect(first, second);
    await expect(gasPrice(client)).rejects.toMatchObject({ kind: "refused", data: "0x12" });
    expect(second.asked).not.toContain("eth_gasPrice");
  });

  test("does not go to an endpoint that is behind, until it has caught up", async () => {
    const [first, second] = [await startNode({ head: 96 }), await startNode({ answer: { result: "0x2" } })];
    const client = await connect(first, second);
    expect(await gasPrice(client)).toBe(2n);
    first.head = 100;
    await until(async () => (await gasPrice(client)) === 1n);
  });

  test("does not go to an endpoint whose head is from the future, whatever its number", async () => {
    const liar = await startNode({ head: 1_000_000, timestamp: NOW + 3_600 });
    const client = await connect(liar, await startNode({ answer: { result: "0x2" } }));
    expect(await gasPrice(client)).toBe(2n);
  });

  test("fails with the network's name when all fail, and succeeds at once when one is back", async () => {
    const nodes = [await startNode(), await startNode({ answer: { result: "0x2" } })];
    const client = await connect(...nodes);
    for (const node of nodes) node.mode = "HTTP 500";
    const error = await gasPrice(client).catch((reason: Error) => reason);
    expect(error).toMatchObject({ status: 502, code: "rpc_failed", title: "The RPC of network 42 failed." });
    expect(client.isReady()).toBe(false);
    for (const node of nodes) node.mode = "well";
    // The clock has not advanced, so both are still in quarantine.
    expect([1n, 2n]).toContain(await gasPrice(client));
    expect(client.isReady()).toBe(true);
  });
});

describe("an endpoint that failed", () => {
  test("is not used in quarantine, and must answer its chain id afterwards", async () => {
    const [first, second] = [await startNode({ mode: "well" }), await startNode({ answer: { result: "0x2" } })];
    const client = await connect(first, second);
    first.mode = "HTTP 500";
    await gasPrice(client);
    first.mode = "well";
    first.asked.length = 0;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(first.asked).toEqual([]);
    nowMs += 1_000;
    await until(() => log.join().includes("RPC endpoint is back"));
    expect(first.asked[0]).toBe("eth_chainId");
    expect(await gasPrice(client)).toBe(1n);
  });

  test("is not used when it comes back with another chain id", async () => {
    const [first, second] = [await startNode(), await startNode({ answer: { result: "0x2" } })];
    const client = await connect(first, second);
    first.mode = "HTTP 500";
    await gasPrice(client);
    Object.assign(first, { mode: "well", chainId: 43, asked: [] });
    nowMs += 1_000;
    await until(() => log.some((line) => line.includes("belongs to network 43")));
    expect(await gasPrice(client)).toBe(2n);
    expect(first.asked).not.toContain("eth_gasPrice");
  });

  test("is not used any more when it begins to answer for another chain", async () => {
    const [first, second] = [await startNode(), await startNode({ answer: { result: "0x2" } })];
    const client = await connect(first, second);
    Object.assign(first, { chainId: 43, asked: [] });
    nowMs += 60_000;
    for (const node of [first, second]) node.timestamp += 60;
    await until(() => log.some((line) => line.includes("belongs to network 43")));
    expect(await gasPrice(client)).toBe(2n);
    expect(first.asked).not.toContain("eth_gasPrice");
  });

  test("is named in the log by its index: no line holds its URL", async () => {
    const [first, second] = [await startNode(), await startNode()];
    const client = await connect(first, second);
    first.mode = "HTTP 500";
    await gasPrice(client);
    const line = JSON.parse(log[0] ?? "{}");
    expect(line).toMatchObject({ endpoint: "rpcUrls/0", msg: "RPC endpoint failed", quarantinedMs: 1_000 });
    expect(log.join()).not.toMatch(/secret-token|127\.0\.0\.1/);
  });
});

test("a call at every endpoint gives the answers of those that answer", async () => {
  const nodes = [await startNode(), await startNode({ answer: { result: "0x2" } }), await startNode()];
  const client = await connect(...nodes);
  Object.assign(nodes[2] ?? {}, { mode: "hangs" });
  expect(await client.requestEach("eth_gasPrice", [])).toEqual(["0x1", "0x2"]);
  for (const node of nodes) node.mode = "HTTP 500";
  await expect(client.requestEach("eth_gasPrice", [])).rejects.toThrow(RpcError);
});

describe("the start", () => {
  test("needs one endpoint that answers", async () => {
    const dead = await startNode({ mode: "HTTP 500" });
    const client = await connect(dead, await startNode({ answer: { result: "0x2" } }));
    expect(await gasPrice(client)).toBe(2n);
    await expect(connect(dead)).rejects.toMatchObject({ code: "rpc_failed" });
  });

  test("fails when an endpoint is of another chain", async () => {
    const nodes = [await startNode(), await startNode({ chainId: 43 })];
    await expect(connect(...nodes)).rejects.toThrow(/network 42: rpcUrls\/1 belongs to network 43\. Correct it/);
  });
});

describe("a transaction", () => {
  const send = (client: ChainClient) =>
    unwrapRpcError(client, "eth_sendRawTransaction", sendRawTransaction(client, { serializedTransaction: "0x01" }));
  const refusal = (message: string) => ({ answer: { error: { code: -32000, message } } });

  test("goes to all endpoints, including those that are behind, and needs one that accepts it", async () => {
    const nodes = [
      await startNode(refusal("nonce too low")),
      await startNode({ answer: { result: HASH } }),
      await startNode({ head: 0, ...refusal("busy") }),
    ];
    const client = await connect(...nodes);
    expect(await send(client)).toBe(HASH);
    await until(() => nodes.every(({ asked }) => asked.includes("eth_sendRawTransaction")));
  });

  test("is answered by the fastest endpoint", async () => {
    const [first, second] = [await startNode(), await startNode({ answer: { result: HASH } })];
    const client = await connect(first, second);
    first.mode = "hangs";
    const started = performance.now();
    expect(await send(client)).toBe(HASH);
    expect(performance.now() - started).toBeLessThan(250);
  });

  test("that all refuse is refused with the message of the first", async () => {
    const client = await connect(await startNode(refusal("nonce too low")), await startNode(refusal("busy")));
    await expect(send(client)).rejects.toMatchObject({ kind: "refused", reason: "-32000: nonce too low" });
  });

  test("that one refuses and another does not answer may have been accepted", async () => {
    const [first, second] = [await startNode(refusal("nonce too low")), await startNode()];
    const client = await connect(first, second);
    second.mode = "hangs";
    await expect(send(client)).rejects.toMatchObject({ kind: "timeout" });
  });
});

describe("a read of a contract", () => {
  const dataset = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
  const revert = (data: string) => ({ answer: { error: { code: 3, message: "execution reverted", data } } });

  test("that reverts is refused, with its revert data", async () => {
    const client = await connect(await startNode(revert("0x1234")));
    const error = await readQueryPrice(client, dataset).catch((reason) => reason);
    expect(error).toBeInstanceOf(RpcError);
    expect(error).toMatchObject({ kind: "refused", method: "eth_call", data: "0x1234" });
  });

  test.each(["0x", "0x12"])("that answers %s fails, because no dataset answers that", async (result) => {
    const client = await connect(await startNode({ answer: { result } }));
    await expect(readQueryPrice(client, dataset)).rejects.toMatchObject({ kind: "failed", method: "eth_call" });
  });

  test("does not follow a URL that the contract names", async () => {
    const node = await startNode();
    const client = await connect(node);
    const lookup = encodeErrorResult({
      abi: parseAbi(["error OffchainLookup(address sender, string[] urls, bytes data, bytes4 callback, bytes extra)"]),
      args: [dataset, [node.url], "0x", "0x00000000", "0x"],
    });
    Object.assign(node, revert(lookup), { asked: [] });
    await expect(readQueryPrice(client, dataset)).rejects.toMatchObject({ kind: "refused", data: lookup });
    expect(node.asked.filter((method) => method !== "eth_getBlockByNumber")).toEqual(["eth_call"]);
  });
});
