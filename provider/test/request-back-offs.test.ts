import { err, ok } from "@dataset-oracle/protocol/result";
import type { EgressResult } from "@dataset-oracle/service/egress/egress";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { loadSources, SHIPPED_SOURCES } from "../src/source/load-sources.js";
import type { SourceFailure } from "../src/source/source-failure.js";
import { SourceReader } from "../src/source/source-reader.js";
import type { SourceRequest } from "../src/source/source-request.js";
import { coinbaseTicker, json, krakenTicker, startFakeExchanges } from "./support/fake-exchanges.js";
import { ownRateLimit, startProvider } from "./support/test-provider.js";

const SOURCES = new Map(loadSources([SHIPPED_SOURCES]).map((source) => [source.name, source]));

/** The times, in seconds, of requests to what always fails: without jitter, a wait doubles up to its bound. */
const AFTER_LIMIT = [0, 10, 30, 70, 150, 310, 610];
const AFTER_FAILURE = [0, 1, 3, 7, 15, 31, 63, 123, 183, 243, 303, 363, 423, 483, 543, 603];
const SECONDS = 620;

beforeEach(() => {
  // Only clocks are faked: timers stay real.
  vi.useFakeTimers({ toFake: ["performance", "Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const says = (status: number, text: string, retryAfter: string | null = null): EgressResult =>
  ok({ status, contentType: "application/json", retryAfter, text });

/** A reader without jitter, of sources that answer as they are told. */
function open(answer: (url: string) => EgressResult | Promise<EgressResult>) {
  const asked: string[] = [];
  const changes: string[] = [];
  const behaviour = { answer };
  let second = 0n;
  const reader = new SourceReader({
    egress: {
      fetchText: async ({ url }) => {
        asked.push(url);
        return behaviour.answer(url);
      },
    },
    timeoutMs: 10_000,
    hasReserve: false,
    now: () => second,
    random: () => 0,
    onBackOff: ({ source }, change) => changes.push(`${source?.name ?? "published"} ${change}`),
  });
  const tick = (seconds = 1) => {
    vi.advanceTimersByTime(seconds * 1_000);
    second += BigInt(seconds);
  };
  /** Asks once in every second, and returns the seconds in which a request was made, with the last failure. */
  const askEachSecond = async (request: SourceRequest, seconds: number) => {
    const times: number[] = [];
    let failure: SourceFailure | null = null;
    for (let second = 0; second < seconds; ++second) {
      const before = asked.length;
      const reading = await reader.read(request, false);
      failure = reading.ok ? null : reading.error;
      if (asked.length > before) times.push(second);
      tick();
    }
    return { times, failure };
  };
  return { reader, asked, changes, behaviour, tick, askEachSecond };
}

function requestOf(name: string, pair = "ETH-USD"): SourceRequest {
  const query = SOURCES.get(name)?.queries.get(pair);
  if (query === undefined) throw new Error(`${name} has no ${pair}.`);
  return query.request;
}
const ofSpec = (url: string): SourceRequest => ({ method: "GET", url, rateLimit: { perSecond: 5, burst: 5 } });

describe("a source that says that its limit is used up", () => {
  it.each([
    ["by HTTP 429", "coinbase", says(429, "{}", "1")],
    ["by its own error", "kraken", says(200, '{"error":["EAPI:Rate limit exceeded"]}')],
  ])("%s is asked after 10 s, and then ever less often", async (_, exchange, answer) => {
    const { askEachSecond, changes } = open(() => answer);
    const { times, failure } = await askEachSecond(requestOf(exchange), SECONDS);
    expect(times).toEqual(AFTER_LIMIT);
    expect(failure?.code).toBe("throttled");
    expect(failure?.retryAfter).toBeGreaterThan(1);
    expect(changes).toEqual([`${exchange} started`]);
  });

  it("for longer than the back-off is left alone that long", async () => {
    const { askEachSecond } = open(() => says(429, "{}", "45"));
    expect((await askEachSecond(requestOf("gemini"), 100)).times).toEqual([0, 45, 90]);
  });

  it("is left alone for all of its pairs, by published specs too, and tried again with one request", async () => {
    const { reader, asked, behaviour, tick } = open(() => says(429, "{}"));
    const throttled = { error: { code: "throttled" } };
    await reader.read(requestOf("coinbase", "ETH-USD"), false);
    await reader.read(requestOf("coinbase", "BTC-USD"), false);
    expect(await reader.read(ofSpec(requestOf("coinbase").url), false)).toMatchObject(throttled);
    expect(asked).toHaveLength(1);
    tick(10);
    behaviour.answer = () => new Promise(() => {});
    void reader.read(requestOf("coinbase", "BTC-USD"), false);
    expect(await reader.read(requestOf("coinbase", "ETH-USD"), false)).toMatchObject(throttled);
    expect(asked).toHaveLength(2);
  });

  it("to a published spec is still asked for its prices", async () => {
    const { reader, behaviour } = open(() => says(429, "{}"));
    await reader.read(ofSpec(requestOf("okx").url), false);
    behaviour.answer = () => says(200, '{"code":"0","data":[]}');
    expect(await reader.read(requestOf("okx"), false)).toMatchObject({ ok: true });
  });
});

describe("a source that fails otherwise", () => {
  it.each<[what: string, answer: EgressResult, code: string]>([
    ["HTTP 503 without Retry-After", says(503, "{}"), "http_status"],
    ["no answer", err({ code: "timeout", detail: "no answer" }), "timeout"],
    ["an error", says(200, '{"error":["EGeneral:Internal error"]}'), "source_error"],
  ])("by %s is asked after 1 s, and then ever less often", async (_, answer, code) => {
    const { askEachSecond, changes } = open(() => answer);
    const { times, failure } = await askEachSecond(requestOf("kraken"), SECONDS);
    expect(times).toEqual(AFTER_FAILURE);
    expect(failure).toMatchObject({ code });
    expect(failure).not.toHaveProperty("retryAfter");
    expect(changes).toEqual(["kraken started"]);
  });

  it("for one of its pairs is asked for the others", async () => {
    const { reader, asked, tick } = open((url) =>
      url.includes("BTC") ? says(404, '{"message":"NotFound"}') : says(200, coinbaseTicker("7")),
    );
    for (let second = 0; second < 4; ++second) {
      expect(await reader.read(requestOf("coinbase", "ETH-USD"), false)).toMatchObject({ ok: true });
      const other = await reader.read(requestOf("coinbase", "BTC-USD"), false);
      expect(other).toMatchObject({ error: { code: "http_status" } });
      tick();
    }
    expect(asked.filter((url) => url.includes("BTC"))).toHaveLength(3);
    expect(asked.filter((url) => url.includes("ETH"))).toHaveLength(4);
  });

  it("is asked in every second again once it has answered, and starts from the shortest wait if it fails again", async () => {
    const { askEachSecond, behaviour, changes } = open(() => says(500, "{}"));
    const kraken = requestOf("kraken");
    expect((await askEachSecond(kraken, 7)).times).toEqual([0, 1, 3]);
    behaviour.answer = () => says(200, krakenTicker("1"));
    expect((await askEachSecond(kraken, 5)).times).toHaveLength(5);
    behaviour.answer = () => says(500, "{}");
    expect((await askEachSecond(kraken, 3)).times).toEqual([0, 1]);
    expect(changes).toEqual(["kraken started", "kraken ended", "kraken started"]);
  });
});

it("a provider logs that a source fails when it starts to, and when it answers again, and not each time", async () => {
  vi.useRealTimers();
  const exchanges = await startFakeExchanges();
  const { redirectedOrigins } = exchanges;
  const provider = await startProvider({ redirectedOrigins }, { rateLimitOf: ownRateLimit });
  const linesAfterAsking = async () => {
    provider.clock.now += 1;
    await provider.ask();
    return provider.logs.filter(({ source }) => source === "bitstamp").map(({ msg, failure }) => [msg, failure]);
  };
  exchanges.quote("2000", "2002", "2001");
  exchanges.behave("bitstamp", json("{}", 500));
  const started = ["source is failing and is queried less often until it answers again", "http_status"];
  for (let i = 0; i < 3; ++i) expect(await linesAfterAsking()).toEqual([started]);
  expect(await provider.registry.metrics()).toContain('provider_source_back_offs_total{source="bitstamp"} 1');

  exchanges.quote("2000", "2002", "2001");
  await expect.poll(linesAfterAsking, { interval: 200 }).toEqual([started, ["source answers again", undefined]]);
  await provider.close();
  await exchanges.close();
});
