import { once, setMaxListeners } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { MAX_STREAMED_REPORTS, type ReportStreamRequest } from "@dataset-oracle/protocol/http-schemas/reports";
import { Egress } from "@dataset-oracle/service/egress/egress";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { GuardedHttp } from "../peers/guarded-http.js";
import { JoinedReportRequests } from "./joined-report-requests.js";
import type { AnsweredOrNot } from "./post-question.js";

type Asked = ReportStreamRequest["requests"][number];
type Respond = (requests: readonly Asked[], response: ServerResponse) => void;

const DATASET = `0x${"11".repeat(20)}`;
const TIMEOUT_MS = 60_000;
const closing = new AbortController();
setMaxListeners(0, closing.signal);
let server: Server;
let base: string;
/** The paths that were asked, with the number of reports. */
let asked: [path: string, reports: number][];
let respond: Respond;
let nowMs: number;
let reports: JoinedReportRequests;

const question = (i: number, traceparent?: string): Asked => ({
  network_id: 42,
  dataset: DATASET,
  key: `0x${i.toString(16).padStart(4, "0")}`,
  timestamp: 1_790_000_000,
  ...(traceparent !== undefined && { traceparent }),
});
const bodyOf = ({ key }: Asked) => ({ signed: key });
const lineOf = (index: number, request: Asked) => `${JSON.stringify({ index, status: 200, body: bodyOf(request) })}\n`;
const answerOf = (request: Asked): AnsweredOrNot => ({ ok: true, value: { status: 200, json: bodyOf(request) } });
const ask = (i: number, signal = closing.signal) => reports.ask(base, question(i), TIMEOUT_MS, signal);
const askAll = (count: number) => Promise.all(Array.from({ length: count }, (_, i) => ask(i)));

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = "";
  for await (const chunk of request) text += chunk;
  const body = JSON.parse(text);
  const requests: Asked[] = body.requests ?? [body];
  asked.push([request.url ?? "", requests.length]);
  if (request.url === "/report") response.end(JSON.stringify(bodyOf(body)));
  else respond(requests, response);
}

beforeAll(async () => {
  server = createServer((request, response) => void handle(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

beforeEach(() => {
  asked = [];
  nowMs = 0;
  reports = new JoinedReportRequests(new GuardedHttp(new Set([base]), false, closing.signal), () => nowMs);
  respond = (requests, response) => response.end(requests.map((request, i) => lineOf(i, request)).join(""));
});

afterAll(() => {
  closing.abort();
  server.closeAllConnections();
  server.close();
});

test("what is asked in one turn shares a request, and what is asked alone has its own", async () => {
  expect(await ask(1)).toEqual(answerOf(question(1)));
  expect(asked).toEqual([["/report", 1]]);
  respond = (requests, response) => {
    // In reverse order, and cut within a line.
    const text = requests
      .map((request, i) => lineOf(i, request))
      .reverse()
      .join("");
    response.write(text.slice(0, 30));
    setImmediate(() => response.end(text.slice(30)));
  };
  expect(await askAll(3)).toEqual([0, 1, 2].map((i) => answerOf(question(i))));
  expect(asked.slice(1)).toEqual([["/report/stream", 3]]);
});

test("a request has at most 64 reports, and each its own trace", async () => {
  const traces: (string | undefined)[] = [];
  respond = (requests, response) => {
    traces.push(...requests.map(({ traceparent }) => traceparent));
    response.end(requests.map((request, i) => lineOf(i, request)).join(""));
  };
  const all = Array.from({ length: MAX_STREAMED_REPORTS + 2 }, (_, i) => question(i, i % 2 ? `trace ${i}` : undefined));
  await Promise.all(all.map((one) => reports.ask(base, one, TIMEOUT_MS, closing.signal)));
  expect(asked.toSorted(([, a], [, b]) => a - b)).toEqual([
    ["/report/stream", 2],
    ["/report/stream", MAX_STREAMED_REPORTS],
  ]);
  expect(traces.toSorted()).toEqual(all.map(({ traceparent }) => traceparent).toSorted());
});

test("a slow report delays neither those of its request nor later ones", async () => {
  let release = () => {};
  respond = ([first, ...others], response) => {
    response.write(others.map((request, i) => lineOf(i + 1, request)).join(""));
    release = () => response.end(first && lineOf(0, first));
  };
  const slow = ask(0);
  expect(await Promise.all([ask(1), ask(2)])).toEqual([answerOf(question(1)), answerOf(question(2))]);
  expect(await ask(3)).toEqual(answerOf(question(3)));
  release();
  expect(await slow).toEqual(answerOf(question(0)));
});

test("a stream that breaks fails only what it left unanswered", async () => {
  let cut = () => {};
  respond = ([first], response) => {
    response.write(first && lineOf(0, first));
    cut = () => response.destroy();
  };
  const [first, ...others] = [ask(0), ask(1), ask(2)];
  expect(await first).toEqual(answerOf(question(0)));
  cut();
  for (const other of others) expect(await other).toMatchObject({ ok: false, error: { code: "unreachable" } });
});

test.each<[string, string, object]>([
  [
    "too long",
    `${JSON.stringify({ index: 1, status: 200, body: "x".repeat(100_000) })}\n`,
    { error: { code: "too_large" } },
  ],
  ["not JSON", "<html>\n", { value: { status: 200, json: null } }],
  ["not a stream line", '{"index":1}\n', { value: { status: 200, json: null } }],
  ["about an unknown question", '{"index":64,"status":200,"body":{}}\n', { value: { status: 200, json: null } }],
  ["missing", "", { value: { status: 200, json: null } }],
])("a line that is %s costs only its own report", async (_, line, outcome) => {
  respond = (requests, response) =>
    response.end(requests.map((request, i) => (i === 1 ? line : lineOf(i, request))).join(""));
  const [first, second, third] = await askAll(3);
  expect([first, third]).toEqual([answerOf(question(0)), answerOf(question(2))]);
  expect(second).toMatchObject(outcome);
});

test("a request that is refused as a whole is refused for each report", async () => {
  respond = (_, response) => response.writeHead(429).end('{"code":"too_many_requests"}');
  const refused = { ok: true, value: { status: 429, json: { code: "too_many_requests" } } };
  expect(await askAll(2)).toEqual([refused, refused]);
});

test("a provider without the path is asked for each report by itself, for ten minutes", async () => {
  respond = (_, response) => response.writeHead(404).end('{"code":"no_such_path"}');
  const alone: [string, number] = ["/report", 1];
  const answers = [0, 1].map((i) => answerOf(question(i)));
  expect(await askAll(2)).toEqual(answers);
  expect(await askAll(2)).toEqual(answers);
  expect(asked).toEqual([["/report/stream", 2], alone, alone, alone, alone]);
  nowMs += 600_000;
  expect(await askAll(2)).toEqual(answers);
  expect(asked.slice(5)).toEqual([["/report/stream", 2], alone, alone]);
});

test("a report that is no longer needed leaves the others, and the last one ends the request", async () => {
  let isClosed = false;
  let arrived = 0;
  respond = (_, response) => {
    arrived++;
    response.flushHeaders();
    response.on("close", () => {
      isClosed = true;
    });
  };
  const [one, other] = [new AbortController(), new AbortController()];
  const answers = [ask(0, one.signal), ask(1, other.signal)];
  await vi.waitFor(() => expect(arrived).toBe(1), { timeout: 20_000 });
  one.abort();
  expect(await answers[0]).toMatchObject({ ok: false, error: { code: "aborted" } });
  expect(isClosed).toBe(false);
  other.abort();
  expect(await answers[1]).toMatchObject({ ok: false, error: { code: "aborted" } });
  await vi.waitFor(() => expect(isClosed).toBe(true), { timeout: 20_000 });
});

test("an announced provider is asked through the guards", async () => {
  reports = new JoinedReportRequests(new GuardedHttp(new Set(), false, closing.signal), () => nowMs);
  for (const answer of await askAll(2)) expect(answer).toMatchObject({ ok: false, error: { code: "forbidden" } });
  expect(asked).toEqual([]);
});

test("what is asked of an announced provider at once shares a request too", async () => {
  const announced = "https://provider.example";
  const egress = new Egress({ redirectedOrigins: { [announced]: base } });
  reports = new JoinedReportRequests(new GuardedHttp(new Set(), false, closing.signal, egress), () => nowMs);
  const slow: ServerResponse[] = [];
  respond = (requests, response) => {
    response.write(lineOf(0, requests[0] as Asked));
    slow.push(response);
  };
  const [first, second] = [1, 2].map((i) => reports.ask(announced, question(i), TIMEOUT_MS, closing.signal));
  // Before the answer has ended.
  expect(await first).toEqual(answerOf(question(1)));
  slow[0]?.end(lineOf(1, question(2)));
  expect(await second).toEqual(answerOf(question(2)));
  expect(asked).toEqual([["/report/stream", 2]]);
});
