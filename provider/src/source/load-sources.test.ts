import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EXCHANGE_ORIGINS, EXCHANGES } from "@dataset-oracle/devnet/exchange-origins";
import { MARKET_PAIRS } from "@dataset-oracle/devnet/simulated-market/pairs";
import { describe, expect, it } from "vitest";
import { loadSources, SHIPPED_SOURCES } from "./load-sources.js";

const shipped = () => new Map(loadSources([SHIPPED_SOURCES]).map((source) => [source.name, source]));

/** A folder with the shipped Coinbase file, one setting of it changed. */
function folderWith(change: Record<string, unknown>): string {
  const folder = mkdtempSync(join(tmpdir(), "sources-"));
  const spec = JSON.parse(readFileSync(join(SHIPPED_SOURCES, "coinbase.json"), "utf8"));
  writeFileSync(join(folder, "changed.json"), JSON.stringify({ ...spec, ...change }));
  return folder;
}

describe("the shipped sources", () => {
  it("are the eight exchanges that the market of the devnet speaks for, at their origins", () => {
    const origins = [...shipped()].map(([name, { origin }]) => [name, origin]);
    expect(Object.fromEntries(origins)).toEqual(EXCHANGE_ORIGINS);
    expect(readdirSync(SHIPPED_SOURCES)).toHaveLength(EXCHANGES.length);
  });

  it("give each pair of the devnet three sources without a conversion, and those in USD seven", () => {
    for (const { pair } of MARKET_PAIRS) {
      const knowing = [...shipped().values()].filter(({ pairs }) => pairs.has(pair));
      const direct = knowing.filter(({ query }) => query(pair).rate === null);
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
      expect(shipped().get(source)?.query(pair).request).toMatchObject({ method: "GET", url, headers: {} });
    });
  }
});

describe("a source file is refused, with its name and what to fix,", () => {
  const cases: [change: Record<string, unknown>, message: RegExp][] = [
    [{ surprise: 1 }, /changed\.json.*\n.*\/surprise/],
    [{ decimals: 8 }, /\/decimals/],
    [{ type: "float" }, /\/type/],
    [{ rounding: "up" }, /\/rounding/],
    [{ method: "PUT" }, /\/method/],
    [{ method: "POST" }, /changed\.json: body: POST needs a body/],
    [{ headers: { authorization: "x" } }, /changed\.json: headers: a spec cannot set authorization/],
    [{ hash: true }, /\/hash/],
    [{ pairs: ["ethusd"] }, /\/pairs\/0/],
    [{ quoteTime: { path: "$..time", unit: "iso8601" } }, /the path is not valid at "\.\.time"\./],
    [{ quoteTime: { path: "$.time", unit: "days" } }, /\/quoteTime\/unit/],
    [{ symbols: { case: "upper", spelling: {}, pairs: {} } }, /\{base\} is not a variable. The variables are: pair/],
    [{ url: "http://api.example.com/{base}{quote}" }, /changed\.json: http:.*must start with "https/],
    [{ path: "$..price" }, /changed\.json: \$\.\.price: the path is not valid at "\.\.price"\./],
    [{ errorPath: "oops" }, /changed\.json: oops: the path is not valid at/],
    [{ rateLimit: { perSecond: 0, burst: 1 } }, /\/rateLimit\/perSecond/],
    [{ rateLimit: undefined }, /\/rateLimit/],
    [{ headers: { "X Y": "1" } }, /\/headers/],
    [{ symbols: { case: "upper", spelling: { btc: "XBT" } } }, /\/symbols\/spelling/],
  ];
  for (const [change, message] of cases) {
    it(`for ${JSON.stringify(change)}`, () => {
      expect(() => loadSources([folderWith(change)])).toThrow(message);
    });
  }

  it("for a name that another source has", () => {
    expect(() => loadSources([SHIPPED_SOURCES, folderWith({})])).toThrow('another source has the name "coinbase" too');
  });

  it("for another rate limit than its neighbour at the same origin", () => {
    const other = folderWith({ name: "other", rateLimit: { perSecond: 11, burst: 15 } });
    expect(() => loadSources([SHIPPED_SOURCES, other])).toThrow('rateLimit differs from that of "coinbase"');
  });

  it("for not being there", () => {
    expect(() => loadSources(["/nowhere.json"])).toThrow("/nowhere.json cannot be read: ENOENT.");
  });
});
