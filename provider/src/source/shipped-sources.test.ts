import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { EXCHANGE_ORIGINS, EXCHANGES } from "@dataset-oracle/devnet/exchange-origins";
import { MARKET_PAIRS } from "@dataset-oracle/devnet/simulated-market/pairs";
import { describe, expect, it } from "vitest";
import { loadSources, SHIPPED_SOURCES } from "./load-sources.js";

const shipped = () => new Map(loadSources([SHIPPED_SOURCES]).map((source) => [source.name, source]));

describe("the shipped sources", () => {
  it("are the eight exchanges that the devnet's market simulates, at their origins", () => {
    const origins = [...shipped()].map(([name, { origin }]) => [name, origin]);
    expect(Object.fromEntries(origins)).toEqual(EXCHANGE_ORIGINS);
    expect(readdirSync(SHIPPED_SOURCES)).toHaveLength(EXCHANGES.length);
  });

  it("give each pair of the devnet three sources without a conversion, and those in USD seven", () => {
    for (const { pair } of MARKET_PAIRS) {
      const knowing = [...shipped().values()].filter(({ queries }) => queries.has(pair));
      const direct = knowing.filter(({ queries }) => queries.get(pair)?.rate === null);
      expect(direct.length, pair).toBeGreaterThanOrEqual(3);
      if (pair.endsWith("-USD")) expect(knowing.length, pair).toBeGreaterThanOrEqual(7);
    }
  });

  it("say what of them was verified, and where their formats, limits and terms are", () => {
    for (const file of readdirSync(SHIPPED_SOURCES)) {
      const spec = JSON.parse(readFileSync(join(SHIPPED_SOURCES, file), "utf8"));
      expect(file).toBe(`${spec.name}.json`);
      for (const page of [spec.documentation, spec.terms]) expect(page).toMatch(/^https:\/\/[a-z.]+\//);
      expect(spec.verification).toContain("Nothing was run against the live API");
    }
  });

  it("can be left out by name", () => {
    const names = (excluded: string[]) => loadSources([SHIPPED_SOURCES], excluded).map(({ name }) => name);
    expect(names(["okx", "binance"])).toHaveLength(6);
    expect(() => names(["ocx"])).toThrow('there is no source "ocx". The sources are: binance, bitfinex,');
  });

  const urls: [source: string, pair: string, url: string][] = [
    ["coinbase", "ETH-USD", "https://api.exchange.coinbase.com/products/ETH-USD/ticker"],
    ["kraken", "ETH-USD", "https://api.kraken.com/0/public/Ticker"],
    ["bitstamp", "ETH-USD", "https://www.bitstamp.net/api/v2/ticker/"],
    ["gemini", "ETH-USD", "https://api.gemini.com/v1/pricefeed"],
    ["bitfinex", "ETH-USD", "https://api-pub.bitfinex.com/v2/tickers?symbols=ALL"],
    ["binance", "ETH-USD", "https://data-api.binance.vision/api/v3/ticker/price"],
    ["okx", "ETH-USD", "https://www.okx.com/api/v5/market/tickers?instType=SPOT"],
    ["kucoin", "ETH-USD", "https://api.kucoin.com/api/v1/market/allTickers"],
  ];
  for (const [source, pair, url] of urls) {
    it(`ask ${source} for ${pair} at its own address`, () => {
      expect(shipped().get(source)?.queries.get(pair)?.request).toMatchObject({ method: "GET", url, headers: {} });
    });
  }
});
