import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type Address, concatHex, encodeFunctionData, erc20Abi, type Hex, numberToHex } from "viem";
import { afterAll, describe, expect, test } from "vitest";
import { datasetAbi } from "../abi/dataset.js";
import { spotPriceKey } from "../dataset-key.js";
import { OPERATOR_PROBLEM_CODES } from "../operator-problem.js";
import { type PackedUpdate, packUpdate } from "../packed-update.js";
import { ZERO_VALUE } from "../report.js";
import { encodeUpdateCall } from "../update-call.js";
import { DataRequestError } from "./data-request-error.js";
import { type RequestUpdateParameters, requestUpdate } from "./request-update.js";
import type { UpdateProgress } from "./update-progress.js";

type ServerHandler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

const DATASET: Address = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const OTHER: Address = "0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f";
const HASH: Hex = `0x${"ab".repeat(32)}`;
const KEY = spotPriceKey("ETH-USD");

let handle: ServerHandler;
const server = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  handle(request, response, body);
});

await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const answers =
  (body: unknown, status = 200, headers: Record<string, string> = {}): ServerHandler =>
  (_, response) => {
    response.writeHead(status, {
      "content-type": status === 200 ? "application/json" : "application/problem+json",
      ...headers,
    });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };

const streams =
  (...events: [string, unknown][]): ServerHandler =>
  (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(events.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join(""));
  };

const point = {
  network_id: 42,
  dataset: DATASET,
  key: "SPOTPX/ETH-USD",
  key_hex: KEY,
  status: "OK",
  value: "3021500000000000000000",
  timestamp: 1_790_000_000,
  reports: [{ provider: OTHER, value: "3021500000000000000000", signature: `0x${"11".repeat(65)}` }],
};
const sent = { ...point, transaction_hash: HASH };

const VALUE = numberToHex(3_021_500_000_000_000_000_000n, { size: 32 });
const ROUND = 1_790_000_000n;
const CONTENT = {
  kind: "update",
  key: KEY,
  round: ROUND,
  toleranceBps: 50n,
  outcome: "OK",
  value: VALUE,
  members: [{ value: VALUE, r: HASH, vs: HASH }],
} as const satisfies PackedUpdate;
/** The members of an unsent answer, for an update with this content. */
const unsent = (content: PackedUpdate = CONTENT) => {
  const update = packUpdate(content);
  return { update, transaction: { chainId: "0x2a", to: DATASET, data: encodeUpdateCall(update), gas: "0x30d40" } };
};
const noDataUpdate: PackedUpdate = {
  ...CONTENT,
  outcome: "NOT_AVAILABLE",
  value: ZERO_VALUE,
  members: [{ value: ZERO_VALUE, r: HASH, vs: HASH }],
};

const ask = <B extends boolean>(broadcast: B, more: Partial<RequestUpdateParameters<B>> = {}) =>
  requestUpdate({ url, networkId: 42, dataset: DATASET, key: "SPOTPX/ETH-USD", broadcast, ...more });

/** The error that a request ends with. */
async function failure(request: Promise<unknown>): Promise<DataRequestError> {
  const error = await request.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(DataRequestError);
  return error as DataRequestError;
}

test.each(["", "/", "/oracle/v1", "/oracle/v1/"])(
  "the request is posted under the base URL %j with exactly its four properties",
  async (base) => {
    handle = (request, response, body) => {
      expect([request.method, request.url]).toEqual(["POST", `${base.replace(/\/$/, "")}/data/request`]);
      expect(JSON.parse(body)).toEqual({ network_id: 42, dataset: DATASET, key: "SPOTPX/ETH-USD", broadcast: true });
      expect(request.headers).toMatchObject({ "content-type": "application/json" });
      // It has a preference only when that is asked for, and takes a stream only to have the hash before the wait.
      expect(request.headers.prefer).toBe(base === "" ? undefined : "wait=7");
      expect(request.headers.accept?.includes("event-stream")).toBe(base !== "");
      answers(sent)(request, response, body);
    };
    const update = await ask(true, { url: url + base, ...(base !== "" && { wait: 7 }) });
    expect(update.transactionHash).toBe(HASH);
  },
);

describe("the answer", () => {
  test("of a broadcast is the data point, its reports and the transaction's hash", async () => {
    const reports = [{ ...point.reports[0], reason: "/sources/0: unreachable" }];
    handle = answers({ ...sent, reports, of_a_newer_operator: 1 });
    expect(await ask(true)).toEqual({
      networkId: 42,
      dataset: DATASET,
      key: KEY,
      status: "OK",
      value: 3_021_500_000_000_000_000_000n,
      output: "0x0000000000000000000000000000000000000000000000a3cbbc61682ac60000",
      updatedAt: 1_790_000_000n,
      reports: [
        {
          provider: OTHER,
          value: "0x0000000000000000000000000000000000000000000000a3cbbc61682ac60000",
          signature: `0x${"11".repeat(65)}`,
          reason: "/sources/0: unreachable",
        },
      ],
      transactionHash: HASH,
      fresh: false,
    });
  });

  test("of a recent value, and of another relayer's transaction that was not found, says so; a word is 32 bytes", async () => {
    handle = answers({ ...sent, value: HASH, reports: [], transaction_hash: null, fresh: true });
    const word = { output: HASH, value: BigInt(HASH) };
    expect(await ask(true)).toMatchObject({ reports: [], transactionHash: null, fresh: true, ...word });
  });

  test("without a broadcast has a transaction that viem can send, without Ether whatever the operator says", async () => {
    for (const change of [{}, { value: "0x1" }]) {
      const { update, transaction } = unsent();
      handle = answers({ ...point, update, transaction: { ...transaction, ...change } });
      const { data } = transaction;
      const sendable = { chainId: 42, to: DATASET, data, value: 0n, gas: 200_000n };
      expect(await ask(false)).toMatchObject({ update, transaction: sendable });
    }
  });

  test.each([
    ["DISAGREEMENT", CONTENT],
    ["NOT_AVAILABLE", noDataUpdate],
  ])("without a value is %s", async (status, content) => {
    handle = answers({ ...point, status, value: "0", ...unsent(content) });
    expect(await ask(false)).toMatchObject({ status, value: 0n, update: packUpdate(content) });
    handle = answers({ ...point, status, ...unsent(content) });
    expect((await failure(ask(false))).problem.code).toBe("unexpected_answer");
  });

  const withContent = (change: Partial<PackedUpdate>) => ({
    ...point,
    ...unsent({ ...CONTENT, ...change } as PackedUpdate),
  });
  const withTransaction = (change: object) => {
    const { update, transaction } = unsent();
    return { ...point, update, transaction: { ...transaction, ...change } };
  };
  const {
    update: PACKED,
    transaction: { data: DATA },
  } = unsent();
  const verification = encodeFunctionData({ abi: datasetAbi, functionName: "verify", args: [PACKED] });
  const transfer = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [OTHER, 1n] });
  test.each<[what: string, broadcast: boolean, body: unknown, status?: number]>([
    ["has a transaction to another contract", false, withTransaction({ to: OTHER })],
    ["has a transaction of another chain", false, withTransaction({ chainId: "0x1" })],
    ["has a transaction that calls something else", false, withTransaction({ data: transfer })],
    ["has a transaction that only verifies", false, withTransaction({ data: verification })],
    ["has a transaction with bytes behind it", false, withTransaction({ data: concatHex([DATA, "0x00"]) })],
    ["has a transaction with another update", false, { ...withTransaction({}), update: packUpdate(noDataUpdate) }],
    ["has no update", false, { ...withTransaction({}), update: undefined }],
    ["has an update with a byte behind it", false, { ...withTransaction({}), update: concatHex([PACKED, "0x00"]) }],
    ["updates another key", false, withContent({ key: spotPriceKey("BTC-USD") })],
    ["stores another round", false, withContent({ round: ROUND - 1n })],
    ["stores another value", false, withContent({ value: HASH })],
    ["stores that there is no data", false, { ...point, ...unsent(noDataUpdate) }],
    ["has no gas that can be read", false, withTransaction({ gas: "much" })],
    ["is of another network", true, { ...sent, network_id: 1 }],
    ["is of another key", true, { ...sent, key_hex: spotPriceKey("BTC-USD") }],
    ["has no transaction hash", true, { ...sent, transaction_hash: undefined }],
    ["is a page", true, "<html></html>"],
    ["is a problem without its members", true, { title: "No.", status: 503, code: "no_quorum", detail: "None." }, 503],
  ])("is refused when it %s", async (_, broadcast, body, status = 200) => {
    handle = answers(body, status);
    expect((await failure(ask(broadcast))).problem).toMatchObject({ code: "unexpected_answer", status });
  });
});

describe("a problem", () => {
  const said = { title: "No.", status: 429, detail: "Try later." };
  const members = { errors: [], served_network_ids: [1], failures: [], error: null };

  test.each(OPERATOR_PROBLEM_CODES)("%s is identified by its code, with title, detail and members", async (code) => {
    handle = answers({ ...said, ...members, code }, 429, { "retry-after": "17" });
    const error = await failure(ask(true));
    expect(error.problem).toEqual({ ...said, ...members, code });
    expect(error.message).toBe("No. Try later.");
    expect(error.retryAfterSeconds).toBe(17);
  });

  test.each([
    [{ retry_after: 17 }, 17],
    [{ retry_after: -1 }, null],
    [{}, null],
  ])("that ends a stream with %j has the wait %s", async (wait, seconds) => {
    handle = streams(["problem", { ...said, code: "queue_full", ...wait }]);
    expect((await failure(ask(true, { wait: 9 }))).retryAfterSeconds).toBe(seconds);
  });

  test("of a newer operator is unknown_problem, with the code that was reported", async () => {
    handle = answers({ ...said, code: "moon_phase" }, 503);
    const { problem, retryAfterSeconds } = await failure(ask(true));
    const unknown = { code: "unknown_problem", status: 503, reported: "moon_phase" };
    expect([problem, retryAfterSeconds]).toEqual([{ title: "No.", detail: "Try later.", ...unknown }, null]);
  });
});

describe("several operators", () => {
  const NOBODY = "http://127.0.0.1:1";
  const outOfFunds = { title: "No.", status: 503, code: "out_of_funds", detail: "Try later." };

  test("are asked in their order until one answers", async () => {
    const asked: (string | undefined)[] = [];
    handle = (request, response, body) => {
      asked.push(request.url);
      const isDown = request.url?.startsWith("/down");
      (isDown ? answers(outOfFunds, 503) : answers(sent))(request, response, body);
    };
    const update = await ask(true, { url: [NOBODY, `${url}/down`, `${url}/up`, `${url}/spare`] });
    expect(update.transactionHash).toBe(HASH);
    expect(asked).toEqual(["/down/data/request", "/up/data/request"]);
  });

  test("that all fail end with the problem of the last", async () => {
    handle = answers(outOfFunds, 503);
    expect((await failure(ask(true, { url: [NOBODY, url] }))).problem.code).toBe("out_of_funds");
    const { problem, earlier } = await failure(ask(true, { url: [NOBODY, url, NOBODY] }));
    expect(problem.code).toBe("unreachable");
    expect(earlier.map((error) => error.problem.code)).toEqual(["unreachable", "out_of_funds"]);
  });
});

describe("a transaction that the operator has signed", () => {
  const signed = `event: signed\ndata: ${JSON.stringify({ transaction_hash: HASH })}\n\n`;
  const problem = { title: "No.", status: 502, code: "update_reverted", detail: "None.", error: null };

  test.each<[what: string, code: string, end: (response: ServerResponse) => void]>([
    ["the connection breaks", "unreachable", (response) => response.destroy()],
    ["a proxy ends the stream", "unexpected_answer", (response) => response.end()],
    ["the deadline passes", "timeout", () => {}],
    ["it fails", "update_reverted", (r) => r.end(`event: problem\ndata: ${JSON.stringify(problem)}\n\n`)],
  ])("is named, and no other operator is asked, when %s", async (_, code, end) => {
    const asked: (string | undefined)[] = [];
    handle = (request, response) => {
      asked.push(request.url);
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(signed, () => setTimeout(() => end(response), 20));
    };
    const error = await failure(ask(true, { url: [`${url}/first`, `${url}/second`], wait: 60, timeoutMs: 300 }));
    expect(error.problem.code).toBe(code);
    expect(error.transactionHash).toBe(HASH);
    expect(error.message).toContain(HASH);
    expect(asked).toEqual(["/first/data/request"]);
  });
});

test("a timeout may be longer than a timer can be", async () => {
  handle = (...exchange) => void setTimeout(() => answers(sent)(...exchange), 50);
  expect((await ask(true, { timeoutMs: Number.POSITIVE_INFINITY })).transactionHash).toBe(HASH);
});

test.each(["out_of_funds", "queue_full"])(
  "an operator of whom no node has taken a transaction is left: %s",
  async (code) => {
    const problem = { title: "No.", status: 503, code, detail: "Try later." };
    handle = (request, ...rest) => {
      const steps: [string, unknown][] = [["signed", { transaction_hash: HASH }]];
      const end: [string, unknown] = request.url?.startsWith("/poor") ? ["problem", problem] : ["answer", sent];
      streams(...steps, end)(request, ...rest);
    };
    expect((await ask(true, { url: [`${url}/poor`, `${url}/rich`], wait: 9 })).transactionHash).toBe(HASH);
  },
);

describe("a failure on the way", () => {
  const noScheme = "The operator's URL does not begin with http:// or https://. Write it in front of the host.";
  test.each([
    ["http://127.0.0.1:1", "The operator at http://127.0.0.1:1 cannot be reached: bad port."],
    ["http://127.0.0.1:22222", "The operator at http://127.0.0.1:22222 cannot be reached: connect ECONNREFUSED"],
    ["http://name:secret@127.0.0.1:22222", "The operator at http://127.0.0.1:22222 cannot be reached. Check"],
    ["127.0.0.1:21080", noScheme],
  ])("is unreachable at %s", async (text, message) => {
    const error = await failure(ask(true, { url: text }));
    expect([error.problem.code, error.message]).toEqual(["unreachable", expect.stringContaining(message)]);
  });

  test.each<[string, ServerHandler]>([
    ["before the answer", () => {}],
    ["within the answer", (_, response) => response.writeHead(200, { "content-type": "application/json" }).write("{")],
    [
      "within a stream",
      (_, response) => response.writeHead(200, { "content-type": "text/event-stream" }).write("event: asked\n"),
    ],
  ])("is a timeout when the deadline passes %s, even if garbage is collected until then", async (_, handler) => {
    handle = handler;
    setFlagsFromString("--expose-gc");
    const collecting = setInterval(runInNewContext("gc"), 10);
    const { problem } = await failure(ask(true, { timeoutMs: 100, onProgress: () => {} }));
    clearInterval(collecting);
    expect(problem).toMatchObject({ code: "timeout", timeoutMs: 100 });
  });

  test("is the signal's reason when it was aborted, and no other operator is asked then", async () => {
    handle = () => {};
    const abort = new AbortController();
    const request = ask(true, { url: [url, "http://127.0.0.1:1"], signal: abort.signal });
    abort.abort(new Error("The page was left."));
    await expect(request).rejects.toThrow("The page was left.");
    await expect(ask(true, { signal: abort.signal })).rejects.toThrow("The page was left.");
  });
});

describe("the progress", () => {
  const steps: [string, object][] = [
    ["asked", { timestamp: 1_790_000_000, providers: [OTHER] }],
    ["report", { provider: OTHER, outcome: "OK", received: 1, of: 4 }],
    ["signed", { transaction_hash: HASH }],
    ["sent", { transaction_hash: HASH }],
    ["mined", { transaction_hash: HASH, block_number: 7 }],
  ];

  test("is heard in order, and the answer is the last event", async () => {
    const heard: UpdateProgress[] = [];
    handle = streams(...steps, ["of_a_newer_operator", {}], ["answer", sent]);
    const update = await ask(true, { onProgress: (step) => heard.push(step) });
    expect(heard).toEqual(steps.map(([event, data]) => ({ event, ...data })));
    expect(update.transactionHash).toBe(HASH);
  });

  test("comes through in pieces of any size", async () => {
    const text = `event: asked\r\ndata: {"timestamp":1,"providers":[]}\r\n\r\nevent: answer\ndata: ${JSON.stringify({ ...sent, key: "é" })}\n\n`;
    handle = async (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const byte of Buffer.from(text)) {
        response.write(Buffer.of(byte));
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    };
    const heard: UpdateProgress[] = [];
    expect((await ask(true, { onProgress: (step) => heard.push(step) })).transactionHash).toBe(HASH);
    expect(heard).toEqual([{ event: "asked", timestamp: 1, providers: [] }]);
  });

  const outOfFunds = { title: "No.", status: 503, code: "out_of_funds", detail: "Try later." };
  test.each<[event: string, data: object, code: string, detail: string]>([
    ["problem", outOfFunds, "out_of_funds", "Try later."],
    ["asked", { timestamp: 1, providers: [] }, "unexpected_answer", "ended without an answer"],
  ])("that ends with the event %s is a failure", async (event, data, code, part) => {
    handle = streams([event, data]);
    const detail = expect.stringContaining(part);
    expect((await failure(ask(true, { onProgress: () => {} }))).problem).toMatchObject({ code, detail });
  });
});
