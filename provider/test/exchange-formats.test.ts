import { EXCHANGE_ORIGINS, EXCHANGES } from "@dataset-oracle/devnet/exchange-origins";
import { MARKET_PAIRS } from "@dataset-oracle/devnet/simulated-market/pairs";
import { type Market, startMarket } from "@dataset-oracle/devnet/simulated-market/server";
import { Egress } from "@dataset-oracle/service/egress/egress";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseExactJson } from "../src/source/exact-json.js";
import { loadSources, SHIPPED_SOURCES } from "../src/source/load-sources.js";
import { SourceReader } from "../src/source/source-reader.js";

const SOURCES = new Map(loadSources([SHIPPED_SOURCES]).map((source) => [source.name, source]));

/** A spread that every price below lies in. */
const [BID, ASK] = ['"1e-18"', '"1000000000000000000000000000000"'];

/**
 * Answers in formats of exchanges, with a price of ETH-USD (or ETH-USDT) written as the text is. All source files are
 * read by the same rules, so an exchange without a row here is only tested with what was recorded of it.
 */
const ANSWERS: Readonly<Record<string, (price: string) => string>> = {
  coinbase: (price) =>
    `{"trade_id":1,"price":${price},"size":"1","time":"2026-01-02T03:04:05.678901Z","bid":${BID},"ask":${ASK}}`,
  kraken: (price) =>
    `{"error":[],"result":{"XXBTZUSD":{"c":["1","1"]},"XETHZUSD":{"a":[${ASK}],"b":[${BID}],"c":[${price},"0.01"]}}}`,
  bitstamp: (price) =>
    `[{"pair":"BTC/USD","last":"1","timestamp":"1"},{"pair":"ETH/USD","last":${price},"bid":${BID},"ask":${ASK},"timestamp":"1767323045"}]`,
  gemini: (price) => `[{"pair":"BTCUSD","price":"1"},{"pair":"ETHUSD","price":${price},"percentChange24h":"0.1"}]`,
  bitfinex: (price) => `[["fUSD",0.1,0.2],["tETHUSD",${BID},1,${ASK},1,0.1,0.2,${price},10,3,1]]`,
  binance: (price) => `[{"symbol":"BTCUSDT","price":"1"},{"symbol":"ETHUSDT","price":${price}}]`,
  okx: (price) =>
    `{"code":"0","msg":"","data":[{"instId":"ETH-USDC","last":"1","ts":"1"},{"instId":"ETH-USDT","last":${price},"bidPx":${BID},"askPx":${ASK},"ts":"1767323045678"}]}`,
  kucoin: (price) =>
    `{"code":"200000","data":{"time":1767323045678,"ticker":[{"symbol":"ETH-USDT","symbolName":"ETH-USDT","buy":${BID},"sell":${ASK},"last":${price}}]}}`,
};

describe.each(Object.entries(ANSWERS))("%s", (name, answerOf) => {
  const query = SOURCES.get(name)?.queries.get("ETH-USD");
  /** The quote that an answer has, or the failure's code. */
  function read(text: string) {
    const document = parseExactJson(text);
    const reading = document.ok ? query?.read(document.value) : document;
    return reading?.ok ? reading.value : reading?.error.code;
  }
  // 2026-01-02T03:04:05Z, in the unit of each.
  const quotedAt = SOURCES.get(name)?.spec.quoteTime === undefined ? null : 1_767_323_045n;

  it.each<[written: string, expected: bigint | string]>([
    ["5174.22", 5_174_220_000_000_000_000_000n],
    ["0.30000000000000004", 300_000_000_000_000_040n],
    ["2.471e-05", 24_710_000_000_000n],
    ["-1", "negative"],
  ])("is read exactly: %s, as a string and as a number, with the time of its quote", (written, expected) => {
    const quote = typeof expected === "bigint" ? { value: expected, quotedAt } : expected;
    for (const price of [`"${written}"`, written]) expect(read(answerOf(price))).toEqual(quote);
  });

  it("has no price in an answer of other pairs alone, or without a price", () => {
    expect(read(answerOf('"1"').replaceAll("ETH", "NOT").replace('"price"', '"cost"'))).toBe("no_node");
    expect(read(answerOf("null"))).toBe("not_a_number");
  });
});

describe("the market of the devnet", () => {
  let market: Market;
  let egress: Egress;
  beforeAll(async () => {
    market = await startMarket({ seed: 8 });
    const origins = Object.entries(EXCHANGE_ORIGINS).map(([name, origin]) => [origin, `${market.url}/${name}`]);
    egress = new Egress({ redirectedOrigins: Object.fromEntries(origins) });
  });
  afterAll(async () => {
    await egress.close();
    await market.close();
  });

  it.each(EXCHANGES)("answers for every pair that is read from %s", async (name) => {
    const reader = new SourceReader({ egress, timeoutMs: 10_000, hasReserve: false, now: () => 0n });
    for (const [pair, { request, read }] of SOURCES.get(name)?.queries ?? []) {
      const answer = await reader.read({ ...request, rateLimit: null }, false);
      const reading = answer.ok ? read(answer.value.document) : answer;
      expect(reading, pair).toMatchObject({ ok: true });
      const start = MARKET_PAIRS.find((listed) => listed.pair === pair)?.start ?? "1";
      if (reading.ok) expect(Math.abs(Number(reading.value.value) / 1e18 / Number(start) - 1), pair).toBeLessThan(0.05);
    }
  });
});
