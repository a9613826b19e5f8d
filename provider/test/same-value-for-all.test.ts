import { EXCHANGE_ORIGINS } from "@dataset-oracle/devnet/exchange-origins";
import { TICKERS } from "@dataset-oracle/devnet/simulated-market/server";
import type { SimulatedPrices } from "@dataset-oracle/devnet/simulated-market/simulated-prices";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import { ok } from "@dataset-oracle/protocol/result";
import { ProblemError } from "@dataset-oracle/service/http-server/problem-error";
import { SYSTEM_CLOCK, wait } from "@dataset-oracle/service/process/context";
import type { EgressResult } from "@dataset-oracle/service/untrusted/egress";
import Fastify from "fastify";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { RateLimit } from "../src/callers/rate-limit.js";
import { Decider } from "../src/decisions/decider.js";
import { DecisionMemory } from "../src/decisions/decision-memory.js";
import type { ServedDataPoint } from "../src/keys/served-keys.js";
import { Metrics } from "../src/metrics.js";
import { loadSources, SHIPPED_SOURCES } from "../src/source/load-sources.js";
import { SourceReader } from "../src/source/source-reader.js";
import type { SpotSource } from "../src/source/spot-source.js";
import { sourcesOfPair } from "../src/value/spot-price.js";
import { ExtractionPool } from "../src/web-oracle/extraction-pool.js";
import { RateLimitedExtractor } from "../src/web-oracle/rate-limited-extractor.js";
import { contextAt } from "./support/test-context.js";
import { withRateLimits } from "./support/test-provider.js";

const SOURCES = loadSources([SHIPPED_SOURCES]);
const PAIRS = [...new Set(SOURCES.flatMap(({ queries }) => [...queries.keys()]))].filter((pair) => pair !== "USDT-USD");
const POLICY = { minSources: 2, maxDeviationBps: 200, maxQuoteAge: 86_400 };
const START = Math.floor(Date.now() / 1_000) * 1_000;
const EXTRACTOR = new RateLimitedExtractor(new ExtractionPool(SYSTEM_CLOCK), SYSTEM_CLOCK, false);

/** Every exchange says 3000 for every pair, and 1 for USDT-USD, but one thin market of USDT-USD says 0.985. */
async function answersOfExchanges(): Promise<ReadonlyMap<string, string>> {
  const names = [...PAIRS, "USDT-USD"];
  const quote = (exchange: string, name: string) => {
    const last = name !== "USDT-USD" ? "3000" : exchange === "bitstamp" ? "0.985" : "1";
    return { last, bid: last, ask: last };
  };
  const quotes = (exchange: string, dollar = "USD") =>
    (dollar === "USD" ? names : PAIRS.map((name) => name.replace(/-USD$/, "-USDT"))).map((name) => ({
      name,
      quote: quote(exchange, name),
    }));
  const app = Fastify();
  for (const [name, addTicker] of TICKERS) {
    const prices = { quote, quotes, names: () => names } as unknown as SimulatedPrices;
    await app.register(async (scope) => addTicker(scope, prices), { prefix: `/${name}` });
  }
  const answers = new Map<string, string>();
  for (const { name, queries } of SOURCES)
    for (const { request } of queries.values()) {
      const path = request.url.slice(EXCHANGE_ORIGINS[name]?.length);
      if (!answers.has(request.url)) answers.set(request.url, (await app.inject(`/${name}${path}`)).body);
    }
  await app.close();
  return answers;
}
const ANSWERS = await answersOfExchanges();

const OPERATOR = { id: "198.51.100.7", mayUseReserve: true, trace: null };
const STRANGER = { id: "203.0.113.9", mayUseReserve: false, trace: null };
const VALUE = `0x${(3000n * 10n ** 18n).toString(16).padStart(64, "0")}`;

beforeEach(() => {
  vi.useFakeTimers({ now: START, toFake: ["setTimeout", "clearTimeout", "Date"] });
  // The object is kept, because caches have it already.
  vi.spyOn(performance, "now").mockImplementation(() => Date.now());
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** The shipped sources with other rate limits, and the data points of all of their pairs. */
function shipped(rateLimitOf: (source: SpotSource) => RateLimit) {
  const sources = withRateLimits(SOURCES, rateLimitOf);
  const dataset = { kind: "median", chainId: 42, keyForm: "SPOT_PRICE" } as ServedDataPoint["dataset"];
  const points = PAIRS.map((pair): [string, ServedDataPoint] => {
    const key = spotPriceKey(pair);
    const spot = { kind: "spot_price", key, name: pair, sources: sourcesOfPair(pair, sources, 2) } as const;
    return [pair, { id: pair, dataset, key: spot }];
  });
  return { sources, points: new Map(points) };
}
const SHIPPED = shipped(({ rateLimit }) => rateLimit);
/** One request uses up each of them for as long as a request may wait. */
const SLOW = shipped(() => ({ perSecond: 0.4, burst: 1 }));

/** A provider's decisions, with sources that answer after a while. */
function open({ sources, points } = SHIPPED) {
  const exchanges = { answerOf: (url: string): EgressResult => answer(ANSWERS.get(url) ?? "{}") };
  const context = { ...contextAt(() => 0n), clock: SYSTEM_CLOCK, random: () => 0 };
  const fetchText = async ({ url }: { readonly url: string }) => {
    await wait(50, context.closing);
    return exchanges.answerOf(url);
  };
  const reader = new SourceReader({ fetchText }, { fetchText }, context, { timeoutMs: 5_000, hasReserve: true });
  const memory = new DecisionMemory({ hasReserve: true });
  const lease = { refusedThrough: 0n, problem: null, cover: async () => {}, permits: () => true };
  const decider = new Decider(reader, EXTRACTOR, memory, lease, null, new Metrics(context.registry), context, POLICY);
  /** Returns the decided values, or the code of the problem. */
  const decide = async (pairs: readonly string[], round: number, caller: typeof OPERATOR) => {
    try {
      const asked = pairs.map((pair) => points.get(pair) as ServedDataPoint);
      return (await decider.decide(asked, BigInt(round), caller)).map(({ value }) => value);
    } catch (error) {
      if (error instanceof ProblemError) return error.code;
      throw error;
    }
  };
  /** Spends one of a source's tokens on another request than the price's. */
  const spend = ({ name, rateLimit }: SpotSource) => {
    const [query] = sources.find((source) => source.name === name)?.queries.values() ?? [];
    if (query === undefined) throw new Error(`${name} has no query, with ${JSON.stringify(rateLimit)}.`);
    return reader.read({ ...query.request, url: `${query.request.url}#spent` }, false);
  };
  return { exchanges, decide, spend };
}

const answer = (text: string, status = 200): EgressResult =>
  ok({ status, contentType: "application/json", retryAfter: null, text });

const second = () => Math.floor(Date.now() / 1_000);

describe("a round's value", () => {
  test("is not another one because a stranger asked first, while only operators had a source's next request", async () => {
    const { decide, spend } = open();
    const slow = SOURCES.filter(({ rateLimit }) => rateLimit.perSecond === 1);
    expect(slow.map(({ name }) => name)).toEqual(expect.arrayContaining(["bitfinex", "gemini", "kraken"]));
    await vi.advanceTimersByTimeAsync(700);
    for (const source of slow) void spend(source);
    await vi.advanceTimersByTimeAsync(300);
    const ofStranger = decide(["ETH-USD"], second(), STRANGER);
    const ofOperator = decide(["ETH-USD"], second(), OPERATOR);
    await vi.advanceTimersByTimeAsync(6_000);
    expect(await ofOperator).toEqual([VALUE]);
    expect([[VALUE], "source_busy"]).toContainEqual(await ofStranger);
  });

  const phases = [0, 300, 600, 900];
  test.each(phases)(
    "is the operators' or none when a stranger asks after any sources were used up %i ms into a second",
    async (ms) => {
      let decided = 0;
      const sources = SOURCES.filter(({ queries }) => queries.has("ETH-USD"));
      for (let subset = 0; subset < 2 ** sources.length; ++subset) {
        const { decide, spend } = open(SLOW);
        await vi.advanceTimersByTimeAsync(ms);
        for (const [i, source] of sources.entries()) if ((subset >> i) % 2 === 1) void spend(source);
        await vi.advanceTimersByTimeAsync(1_000 - ms);
        const round = second();
        const ofStranger = decide(["ETH-USD"], round, STRANGER);
        await vi.advanceTimersByTimeAsync(100);
        const ofOperator = decide(["ETH-USD"], round, OPERATOR);
        await vi.advanceTimersByTimeAsync(7_900);
        const value = await ofStranger;
        expect(await ofOperator, `${subset}`).toEqual([VALUE]);
        if (value !== "source_busy") decided += 1;
        expect([[VALUE], "source_busy"], `${subset}`).toContainEqual(value);
      }
      // Nothing was used up, at least, of the first one.
      expect(decided).toBeGreaterThan(0);
    },
  );

  test.each([429, 500])("is not another one because a source answered HTTP %i to a stranger", async (status) => {
    const { decide, exchanges } = open();
    const { answerOf } = exchanges;
    const failing = ["kraken", "bitfinex", "gemini"].map((name) => EXCHANGE_ORIGINS[name] ?? "");
    exchanges.answerOf = (url) =>
      failing.some((origin) => url.startsWith(origin)) ? answer("{}", status) : answerOf(url);
    await vi.advanceTimersByTimeAsync(700);
    void decide(["BTC-USD"], second(), STRANGER);
    await vi.advanceTimersByTimeAsync(200);
    exchanges.answerOf = answerOf;
    await vi.advanceTimersByTimeAsync(100);
    const ofStranger = decide(["ETH-USD"], second(), STRANGER);
    await vi.advanceTimersByTimeAsync(200);
    expect(await ofStranger).toBe("source_busy");
    const ofOperator = decide(["ETH-USD"], second(), OPERATOR);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await ofOperator).toEqual([VALUE]);
  });
});

test("while a stranger asks as often as it may, an operator gets every round within the signing window, and whole rows", async () => {
  const { decide } = open();
  const problems: string[] = [];
  const ages: number[] = [];
  const ask = async (pairs: readonly string[], round: number) => {
    const values = await decide(pairs, round, OPERATOR);
    ages.push(Date.now() / 1_000 - round);
    if (typeof values === "string" || values.some((value) => value !== VALUE)) problems.push(`${round}: ${values}`);
  };
  const asking: Promise<void>[] = [];
  const ofStranger: Promise<string | string[]>[] = [];
  for (let tick = 0; tick < 400; ++tick) {
    const round = second() - (tick % 3);
    for (const pair of [PAIRS[tick % PAIRS.length] ?? "", "ETH-USD"]) ofStranger.push(decide([pair], round, STRANGER));
    if (tick % 10 === 3) asking.push(ask(["ETH-USD"], second() - 2));
    if (tick % 50 === 43) asking.push(ask(PAIRS, second() - 2));
    await vi.advanceTimersByTimeAsync(100);
  }
  await vi.advanceTimersByTimeAsync(10_000);
  await Promise.all(asking);
  expect(problems).toEqual([]);
  expect(asking).toHaveLength(48);
  expect(Math.max(...ages)).toBeLessThan(12);
  const answers = (await Promise.all(ofStranger)).map((values) => (typeof values === "string" ? values : values[0]));
  expect(new Set(answers)).toEqual(new Set([VALUE, "source_busy"]));
});
