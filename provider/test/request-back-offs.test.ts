import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { EXCHANGE_ORIGINS } from "@dataset-oracle/devnet/exchange-origins";
import { Egress } from "@dataset-oracle/service/egress/egress";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { loadSources, SHIPPED_SOURCES } from "../src/source/load-sources.js";
import type { SourceFailure } from "../src/source/source-failure.js";
import { SourceReader } from "../src/source/source-reader.js";
import type { SourceRequest } from "../src/source/source-request.js";
import { coinbaseTicker, json, krakenTicker, startFakeExchanges } from "./support/fake-exchanges.js";
import { ownRateLimit, startProvider } from "./support/test-provider.js";

const SOURCES = new Map(loadSources([SHIPPED_SOURCES]).map((source) => [source.name, source]));
const JSON_TYPE = { "content-type": "application/json" };

/** The times, in seconds, of requests to what always fails: without jitter, a wait doubles up to its bound. */
const AFTER_LIMIT = [0, 10, 30, 70, 150, 310, 610];
const AFTER_FAILURE = [0, 1, 3, 7, 15, 31, 63, 123, 183, 243, 303, 363, 423, 483, 543, 603];
const SECONDS = 620;

let server: Server;
let behave: (response: ServerResponse, url: string) => void;
let asked: string[] = [];
let url: string;
beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request.url ?? "");
    behave(response, request.url ?? "");
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  asked = [];
  // Only clocks are faked: timers and sockets stay real.
  vi.useFakeTimers({ toFake: ["performance", "Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const says =
  (status: number, body: string, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(status, { ...JSON_TYPE, ...headers }).end(body);

function open(timeoutMs = 10_000) {
  const redirectedOrigins = Object.fromEntries(Object.values(EXCHANGE_ORIGINS).map((origin) => [origin, url]));
  const egress = new Egress({ redirectedOrigins });
  const changes: string[] = [];
  let second = 0n;
  const reader = new SourceReader({
    egress,
    timeoutMs,
    hasReserve: false,
    now: () => second,
    random: () => 0,
    onBackOff: ({ source }, change) => changes.push(`${source?.name ?? "published"} ${change}`),
  });
  const tick = (seconds = 1) => {
    vi.advanceTimersByTime(seconds * 1_000);
    second += BigInt(seconds);
  };
  return { reader, changes, tick, close: () => egress.close() };
}

function requestOf(name: string, pair = "ETH-USD"): SourceRequest {
  const query = SOURCES.get(name)?.queries.get(pair);
  if (query === undefined) throw new Error(`${name} has no ${pair}.`);
  return query.request;
}

/** Asks once in every second, and returns the seconds in which a request was made, with the last failure. */
async function askEachSecond(request: SourceRequest, seconds = SECONDS, timeoutMs?: number) {
  const { reader, changes, tick, close } = open(timeoutMs);
  const times: number[] = [];
  let failure: SourceFailure | null = null;
  for (let second = 0; second < seconds; ++second) {
    const before = asked.length;
    const reading = await reader.read(request, false);
    failure = reading.ok ? null : reading.error;
    if (asked.length > before) times.push(second);
    tick();
  }
  await close();
  return { times, failure, changes };
}

const LIMITS: [what: string, exchange: string, answer: (response: ServerResponse) => void, names: string][] = [
  ["HTTP 429 with Retry-After", "coinbase", says(429, "{}", { "retry-after": "1" }), "HTTP 429"],
  ["HTTP 429 without one", "coinbase", says(429, '{"message":"Public rate limit exceeded"}'), "Public rate limit"],
  ["HTTP 429 with a page", "coinbase", says(429, "<html>", { "content-type": "text/html" }), "HTTP 429"],
  ["HTTP 418", "binance", says(418, '{"code":-1003,"msg":"Way too much request weight used; IP banned"}'), "-1003"],
  ["HTTP 200 with an error, as Kraken does", "kraken", says(200, '{"error":["EAPI:Rate limit exceeded"]}'), "EAPI"],
  ["Kraken's too many requests", "kraken", says(200, '{"error":["EGeneral:Too many requests"]}'), "Too many"],
  [
    "Kraken's lockout",
    "kraken",
    says(200, '{"error":["EGeneral:Temporary lockout"],"result":{}}'),
    "Temporary lockout",
  ],
  ["Bitfinex's code with HTTP 429", "bitfinex", says(429, '["error", 11010, "ratelimit: error"]'), "11010, ratelimit"],
  ["Bitfinex's code with HTTP 500", "bitfinex", says(500, '["error", 11010, "ratelimit: error"]'), "11010, ratelimit"],
  [
    "Bitstamp's code with HTTP 400",
    "bitstamp",
    says(400, '{"status":"error","reason":"Request rejected due to exceeded rate limit.","response_code":"400.002"}'),
    "400.002",
  ],
  ["OKX's code", "okx", says(200, '{"msg":"Too Many Requests","code":"50011","data":[]}'), "50011"],
  ["KuCoin's code", "kucoin", says(200, '{"code":"429000","msg":"Too Many Requests"}'), "429000"],
  [
    "Gemini's reason",
    "gemini",
    says(200, '{"result":"error","reason":"RateLimit","message":"Slow down"}'),
    "RateLimit",
  ],
];

describe("a source that says that its limit is used up", () => {
  it.each(LIMITS)("by %s is asked after 10 s, and then ever less often", async (_, exchange, answer, names) => {
    behave = answer;
    const { times, failure, changes } = await askEachSecond(requestOf(exchange));
    expect(times).toEqual(AFTER_LIMIT);
    expect(failure).toMatchObject({ code: "throttled", detail: expect.stringContaining(names) });
    expect(failure?.retryAfter).toBeGreaterThan(1);
    expect(changes).toEqual([`${exchange} started`]);
  });

  it("for longer than the back-off is left alone that long", async () => {
    behave = says(429, "{}", { "retry-after": "45" });
    expect((await askEachSecond(requestOf("gemini"), 100)).times).toEqual([0, 45, 90]);
  });

  it("is left alone for all of its pairs, by published specs too, and tried again with one request", async () => {
    behave = says(429, "{}");
    const { reader, tick, close } = open();
    await reader.read(requestOf("coinbase", "ETH-USD"), false);
    await reader.read(requestOf("coinbase", "BTC-USD"), false);
    const spec: SourceRequest = {
      method: "GET",
      url: `${EXCHANGE_ORIGINS.coinbase}/time`,
      rateLimit: { perSecond: 5, burst: 5 },
    };
    expect(await reader.read(spec, false)).toMatchObject({ error: { code: "throttled" } });
    expect(asked).toHaveLength(1);
    tick(10);
    behave = (_, path) => void path;
    void reader.read(requestOf("coinbase", "BTC-USD"), false);
    expect(await reader.read(requestOf("coinbase", "ETH-USD"), false)).toMatchObject({ error: { code: "throttled" } });
    await expect.poll(() => asked).toHaveLength(2);
    await close();
  });
});

describe("a source that fails otherwise", () => {
  it.each<[what: string, answer: (response: ServerResponse) => void, code: string]>([
    ["HTTP 500", says(500, "{}"), "http_status"],
    ["HTTP 503 without Retry-After", says(503, "{}"), "http_status"],
    ["a reset", (response) => void response.destroy(), "unreachable"],
    ["a page", says(200, "<html>", { "content-type": "text/html" }), "not_json"],
    ["an error", says(200, '{"error":["EGeneral:Internal error"]}'), "source_error"],
  ])("by %s is asked after 1 s, and then ever less often", async (_, answer, code) => {
    behave = answer;
    const { times, failure, changes } = await askEachSecond(requestOf("kraken"));
    expect(times).toEqual(AFTER_FAILURE);
    expect(failure).toMatchObject({ code });
    expect(failure).not.toHaveProperty("retryAfter");
    expect(changes).toEqual(["kraken started"]);
  });

  it("by no answer is asked ever less often", async () => {
    behave = () => {};
    const { times, failure } = await askEachSecond(requestOf("kraken"), 10, 500);
    expect(times).toEqual([0, 1, 3, 7]);
    expect(failure?.code).toBe("timeout");
  });

  it("for one of its pairs is asked for the others", async () => {
    behave = (response, path) =>
      path.includes("BTC") ? says(404, '{"message":"NotFound"}')(response) : says(200, coinbaseTicker("7"))(response);
    const { reader, tick, close } = open();
    for (let second = 0; second < 4; ++second) {
      expect(await reader.read(requestOf("coinbase", "ETH-USD"), false)).toMatchObject({ ok: true });
      const other = await reader.read(requestOf("coinbase", "BTC-USD"), false);
      expect(other).toMatchObject({ error: { code: "http_status" } });
      tick();
    }
    expect(asked.filter((path) => path.includes("BTC"))).toHaveLength(3);
    expect(asked.filter((path) => path.includes("ETH"))).toHaveLength(4);
    await close();
  });

  it("is asked in every second again once it has answered, and starts from the shortest wait if it fails again", async () => {
    const { reader, changes, tick, close } = open();
    const ask = async (seconds: number) => {
      const before = asked.length;
      for (let i = 0; i < seconds; ++i) {
        await reader.read(requestOf("kraken"), false);
        tick();
      }
      return asked.length - before;
    };
    behave = says(500, "{}");
    expect(await ask(7)).toBe(3);
    behave = says(200, krakenTicker("1"));
    expect(await ask(5)).toBe(5);
    behave = says(500, "{}");
    expect(await ask(3)).toBe(2);
    expect(changes).toEqual(["kraken started", "kraken ended", "kraken started"]);
    await close();
  });
});

describe("a published spec", () => {
  it("that fails at an exchange's host does not keep the exchange's source from being asked", async () => {
    const { reader, close } = open();
    behave = says(429, "{}");
    const rateLimit = { perSecond: 5, burst: 5 };
    await reader.read({ method: "GET", url: requestOf("okx").url, rateLimit }, false);
    behave = says(200, '{"code":"0","data":[]}');
    expect(await reader.read(requestOf("okx"), false)).toMatchObject({ ok: true });
    await close();
  });
});

it("a provider logs that a source fails when it starts to, and when it answers again, and not each time", async () => {
  vi.useRealTimers();
  const exchanges = await startFakeExchanges();
  const { redirectedOrigins } = exchanges;
  const provider = await startProvider({ redirectedOrigins }, { rateLimitOf: ownRateLimit });
  try {
    exchanges.quote("2000", "2002", "2001");
    exchanges.behave("bitstamp", json("{}", 500));
    const lines = () =>
      provider.logs
        .filter(({ source }) => source === "bitstamp")
        .map(({ msg, failure = "" }) => `${msg} ${failure}`.trim());
    for (let i = 0; i < 3; ++i) {
      expect((await provider.ask()).body.outcome).toBe("OK");
      provider.clock.now += 1;
    }
    const started = ["source is failing and is queried less often until it answers again http_status"];
    expect(lines()).toEqual(started);
    expect(await provider.registry.metrics()).toContain('provider_source_back_offs_total{source="bitstamp"} 1');

    exchanges.quote("2000", "2002", "2001");
    const ended = async () => {
      provider.clock.now += 1;
      await provider.ask();
      return lines();
    };
    await expect.poll(ended, { interval: 200 }).toEqual([...started, "source answers again"]);
  } finally {
    await provider.close();
    await exchanges.close();
  }
});
