import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { EXCHANGE_ORIGINS, EXCHANGES } from "@dataset-oracle/devnet/exchange-origins";
import { MARKET_PAIRS } from "@dataset-oracle/devnet/simulated-market/pairs";
import { type Market, startMarket } from "@dataset-oracle/devnet/simulated-market/server";
import { Egress } from "@dataset-oracle/service/egress/egress";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadSources, SHIPPED_SOURCES } from "../src/source/load-sources.js";
import type { Reading } from "../src/source/source-failure.js";
import { SourceReader } from "../src/source/source-reader.js";
import type { Quote } from "../src/source/spot-source.js";

const SOURCES = new Map(loadSources([SHIPPED_SOURCES]).map((source) => [source.name, source]));
/** For the one answer that must be too late; the others have more time than a busy machine needs. */
const SHORT_MS = 400;
const LONG_MS = 10_000;
const JSON_TYPE = { "content-type": "application/json" };

/** Reads a pair from one source at an address on this machine. */
async function ask(name: string, pair: string, url: string, timeoutMs = LONG_MS): Promise<Reading<Quote>> {
  const egress = new Egress({ redirectedOrigins: { [EXCHANGE_ORIGINS[name] ?? ""]: url } });
  const reader = new SourceReader({ egress, timeoutMs, hasReserve: false, now: () => 0n });
  const query = SOURCES.get(name)?.queries.get(pair);
  if (query === undefined) throw new Error(`${name} has no ${pair}.`);
  const answer = await reader.read({ ...query.request, rateLimit: null }, false);
  await egress.close();
  return answer.ok ? query.read(answer.value.document) : answer;
}

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
  let server: Server;
  let behave: (response: ServerResponse) => void;
  let url: string;
  beforeAll(async () => {
    server = createServer((_request, response) => behave(response)).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const says = async (body: string | Buffer, status = 200, headers: Record<string, string> = {}) => {
    behave = (response) => response.writeHead(status, { ...JSON_TYPE, ...headers }).end(body);
    return ask(name, "ETH-USD", url);
  };
  const outcome = (reading: Reading<Quote>) => (reading.ok ? reading.value.value : reading.error.code);

  const numbers: [written: string, expected: bigint | string][] = [
    ["5174.22", 5_174_220_000_000_000_000_000n],
    ["0.30000000000000004", 300_000_000_000_000_040n],
    ["1e400", "number_too_large"],
    ["-0", 0n],
    ["-1", "negative"],
    ["9".repeat(80), "number_too_large"],
    [`0.${"3".repeat(80)}`, 333_333_333_333_333_333n],
    ["2.471e-05", 24_710_000_000_000n],
  ];
  for (const [written, expected] of numbers) {
    it(`is read exactly: ${written.slice(0, 24)}, as a string and as a number`, async () => {
      for (const price of [`"${written}"`, written]) expect(outcome(await says(answerOf(price)))).toBe(expected);
    });
  }

  it("says when its quote was made, if its format does", async () => {
    const reading = await says(answerOf('"1"'));
    // 2026-01-02T03:04:05Z, in the unit of each.
    const quotedAt = SOURCES.get(name)?.spec.quoteTime === undefined ? null : 1_767_323_045n;
    expect(reading).toMatchObject({ ok: true, value: { quotedAt } });
  });

  const valid = answerOf('"1"');
  const bad: [
    what: string,
    failure: string,
    body: string | Buffer,
    status?: number,
    headers?: Record<string, string>,
  ][] = [
    ["HTTP 429", "throttled", "{}", 429],
    ["HTTP 451", "http_status", valid, 451],
    ["nothing", "not_json", ""],
    ["half of it", "not_json", valid.slice(0, valid.length / 2)],
    ["a page", "not_json", "<!DOCTYPE html><title>Maintenance</title>", 200, { "content-type": "text/html" }],
    ["more than 1 MiB", "too_large", valid + " ".repeat(1024 * 1024)],
    [
      "64 MiB in little",
      "too_large",
      gzipSync(valid + " ".repeat(64 * 1024 * 1024)),
      200,
      { "content-encoding": "gzip" },
    ],
    ["other pairs alone", "no_node", valid.replaceAll("ETH", "NOT").replace('"price"', '"cost"')],
    ["no price", "not_a_number", answerOf("null")],
  ];
  for (const [what, failure, body, status, headers] of bad) {
    it(`that answers ${what} has no price: ${failure}`, async () => {
      expect(outcome(await says(body, status, headers))).toBe(failure);
    });
  }

  it("that is slow has no price, after its deadline", async () => {
    behave = (response) => void response.writeHead(200, JSON_TYPE).write(valid.slice(0, 5));
    expect(outcome(await ask(name, "ETH-USD", url, SHORT_MS))).toBe("timeout");
  });
});

describe("the market of the devnet", () => {
  let market: Market;
  beforeAll(async () => {
    market = await startMarket({ seed: 8 });
  });
  afterAll(() => market.close());

  it.each(EXCHANGES)("answers for every pair that is read from %s", async (name) => {
    for (const pair of SOURCES.get(name)?.queries.keys() ?? []) {
      const reading = await ask(name, pair, `${market.url}/${name}`);
      expect(reading, pair).toMatchObject({ ok: true });
      const start = MARKET_PAIRS.find((listed) => listed.pair === pair)?.start ?? "1";
      if (reading.ok) expect(Math.abs(Number(reading.value.value) / 1e18 / Number(start) - 1), pair).toBeLessThan(0.05);
    }
  });
});
