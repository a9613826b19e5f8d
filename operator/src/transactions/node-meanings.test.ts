import { TRUSTED_CONNECTIONS } from "@dataset-oracle/service/trusted/connections";
import { clockOf } from "@dataset-oracle/tools/clock-of";
import { pino } from "pino";
import { Counter } from "prom-client";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { error } from "../../test/rpc-behaviours/behaviour.js";
import { type RpcCall, type RpcProxy, type RpcReply, startRpcProxy } from "../../test/support/rpc-proxy.js";
import { createChainClient } from "../rpc/client.js";
import { connectEndpoint } from "../rpc/endpoint.js";
import { type ErrorMeaning, MEANINGS, NODE_ERROR_TEXTS, SUBMIT } from "../rpc/node-errors.js";
import { RpcPool } from "../rpc/pool.js";
import { submitRaw } from "./submitter.js";

/** What is done about an error is run for each meaning: over real HTTP, at one endpoint and at two. */

const HASH = `0x${"1".repeat(64)}` as const;
const ADDRESS = `0x${"2".repeat(40)}`;
const READ = "eth_gasPrice";
const SHOWN = { hash: HASH, from: ADDRESS, nonce: "0x1", to: ADDRESS, input: "0x", gas: "0x5208" };

let first: RpcProxy;
let second: RpcProxy;
let isShown: boolean;

beforeAll(async () => {
  // No call is passed on to a chain.
  [first, second] = [await startRpcProxy("http://127.0.0.1:1"), await startRpcProxy("http://127.0.0.1:1")];
});
afterAll(() => Promise.all([first.close(), second.close()]));

/** An ideal node's answers. */
function answerTo({ method }: RpcCall): RpcReply {
  const results: Record<string, unknown> = {
    eth_chainId: "0x2a",
    eth_getBlockByNumber: { number: "0x7", hash: HASH, timestamp: "0x7", gasLimit: "0x7" },
    eth_getTransactionByHash: isShown ? SHOWN : null,
    [READ]: "0x2",
    [SUBMIT]: HASH,
  };
  return { body: { result: results[method] } };
}

beforeEach(() => {
  isShown = false;
  for (const proxy of [first, second]) proxy.script = answerTo;
});

async function connect(...proxies: readonly RpcProxy[]) {
  const context = {
    clock: clockOf(() => 7_000),
    random: () => 0,
    logger: pino({ level: "silent" }),
    closing: new AbortController().signal,
    dispatcher: TRUSTED_CONNECTIONS,
    errors: new Counter({
      name: "e",
      help: "e",
      labelNames: ["network", "endpoint", "method", "class"],
      registers: [],
    }),
  };
  const settings = { rpcTimeoutMs: 5_000, rpcPollMs: 1_000, maxHeadLagBlocks: 3, maxHeadLagSeconds: 30 } as const;
  const rpcs = proxies.map(({ url }) => connectEndpoint(42, url, settings.rpcTimeoutMs, context));
  const pool = new RpcPool(42, rpcs, context, settings);
  await pool.checkAll();
  return { pool, submit: () => submitRaw(createChainClient(42, pool), "0x01", HASH) };
}

/** Has the first endpoint answer one method with an error. */
function refuse(method: string, message: string, code = -32000): void {
  const { reply } = error(code, message);
  first.script = (call) => (call.method === method ? reply(call, 0) : answerTo(call));
}

const OUTCOMES = { yes: "accepted", "if shown": "rejected", perhaps: "unknown", no: "rejected" } as const;

/** Whether an endpoint is used, and which request comes last to it, after one with this meaning. */
const stateAfter = (kind: ErrorMeaning, method: string) => {
  const { endpoint } = MEANINGS[kind];
  return { ready: endpoint !== "is quarantined", without: endpoint === "is asked last" ? [method] : [] };
};

/** One of each meaning. What each text means is tested beside their list. */
const TEXTS = new Map(NODE_ERROR_TEXTS.map(([text, kind]) => [kind, text]));

describe.each([...TEXTS])("%s: %s", (kind, text) => {
  const { accepted, isFinal } = MEANINGS[kind];
  // Which limit is meant that a node does not name, the method says.
  const meaning = kind === "over_limit" ? "throttled" : kind;

  test("of a submission at the only endpoint", async () => {
    refuse(SUBMIT, text);
    const { pool, submit } = await connect(first);
    expect(await submit()).toMatchObject({
      kind: OUTCOMES[accepted],
      ...(OUTCOMES[accepted] === "rejected" && { error: { meaning } }),
    });
    isShown = true;
    expect(await submit()).toMatchObject({ kind: accepted === "no" ? "rejected" : "accepted" });
    // Reading the transaction has used the endpoint again.
    if (accepted === "no") expect(pool.endpoints).toMatchObject([stateAfter(kind, SUBMIT)]);
  });

  test("of a submission at the first of two endpoints, of which the second accepts or refuses it", async () => {
    refuse(SUBMIT, text);
    const { pool, submit } = await connect(first, second);
    expect(await submit()).toEqual({ kind: "accepted" });
    await expect.poll(() => pool.endpoints).toMatchObject([stateAfter(kind, SUBMIT), { ready: true }]);
    second.script = (call) => (call.method === SUBMIT ? error(-32000, "discarded").reply(call, 0) : answerTo(call));
    const other = await connect(first, second);
    expect(await other.submit()).toMatchObject({ kind: OUTCOMES[accepted] });
  });

  test("of a read at the only endpoint, and at the first of two", async () => {
    refuse(READ, text);
    const { pool } = await connect(first);
    await expect(pool.request(READ, [])).rejects.toMatchObject({ meaning });
    expect(pool.endpoints).toMatchObject([stateAfter(kind, READ)]);
    const two = (await connect(first, second)).pool;
    const read = two.request(READ, []);
    if (isFinal) await expect(read).rejects.toMatchObject({ meaning });
    else expect(await read).toBe("0x2");
    expect(two.endpoints).toMatchObject([stateAfter(kind, READ), { ready: true }]);
  });
});

test("only silence, a gateway's answer, and a text that says that the node gave up waiting leave a submission open", () => {
  const open = Object.entries(MEANINGS).filter(([, { accepted }]) => accepted === "perhaps");
  expect(open.map(([kind]) => kind)).toEqual(["timeout", "no_answer"]);
});

test("an unknown text refuses a submission, whatever its code", async () => {
  for (const code of [-32000, -32603, -32010, 1]) {
    refuse(SUBMIT, "discard reason: 33", code);
    expect(await (await connect(first)).submit()).toMatchObject({ kind: "rejected", error: { meaning: "other" } });
  }
});

test("a node that refuses one transaction for a moment is not asked for as long as its message says", async () => {
  refuse(SUBMIT, "sequencer temporarily paused, retry after 3s");
  const { pool, submit } = await connect(first, second);
  await submit();
  await expect.poll(() => pool.endpoints).toMatchObject([{ ready: false }, { ready: true }]);
});

test.each([1, 2])("a submission whose connection is reset %i times is submitted again", async (resets) => {
  let submissions = 0;
  first.script = (call) => {
    if (call.method === SUBMIT && submissions++ < resets) return { connection: "is reset" };
    return answerTo(call);
  };
  expect(await (await connect(first)).submit()).toEqual({ kind: "accepted" });
  expect(submissions).toBe(resets + 1);
});

test("a refusal after a reset leaves a submission open, because the first may have been accepted", async () => {
  let submissions = 0;
  first.script = (call) => {
    if (call.method !== SUBMIT) return answerTo(call);
    return submissions++ === 0 ? { connection: "is reset" } : error(-32000, "nonce too low").reply(call, 0);
  };
  expect(await (await connect(first)).submit()).toMatchObject({ kind: "unknown" });
});
