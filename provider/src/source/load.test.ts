import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MARKET_PAIRS } from "@dataset-oracle/devnet/market/pairs";
import { describe, expect, it } from "vitest";
import { loadSources, SHIPPED_SOURCES } from "./load.js";

const shipped = () => new Map(loadSources([SHIPPED_SOURCES]).map((source) => [source.name, source]));

/** A folder with the shipped Coinbase file, one setting of it changed. */
function folderWith(change: Record<string, unknown>): string {
  const folder = mkdtempSync(join(tmpdir(), "sources-"));
  const spec = JSON.parse(readFileSync(join(SHIPPED_SOURCES, "coinbase.json"), "utf8"));
  writeFileSync(join(folder, "changed.json"), JSON.stringify({ ...spec, ...change }));
  return folder;
}

describe("the shipped sources", () => {
  it("are Coinbase, Kraken and Bitstamp", () => {
    expect([...shipped().keys()].sort()).toEqual(["bitstamp", "coinbase", "kraken"]);
    expect(readdirSync(SHIPPED_SOURCES)).toHaveLength(3);
  });

  it("all know every pair of the devnet", () => {
    for (const [name, { pairs }] of shipped()) {
      for (const { pair } of MARKET_PAIRS) expect(pairs.has(pair), `${name} ${pair}`).toBe(true);
    }
  });

  const urls: [source: string, pair: string, url: string][] = [
    ["coinbase", "ETH-USD", "https://api.exchange.coinbase.com/products/ETH-USD/ticker"],
    ["kraken", "ETH-USD", "https://api.kraken.com/0/public/Ticker?pair=ETHUSD"],
    ["kraken", "BTC-EUR", "https://api.kraken.com/0/public/Ticker?pair=XBTEUR"],
    ["kraken", "DOGE-USD", "https://api.kraken.com/0/public/Ticker?pair=XDGUSD"],
    ["kraken", "ETH-BTC", "https://api.kraken.com/0/public/Ticker?pair=ETHXBT"],
    ["bitstamp", "ETH-USD", "https://www.bitstamp.net/api/v2/ticker/ethusd/"],
  ];
  for (const [source, pair, url] of urls) {
    it(`ask ${source} for ${pair} in its own spelling`, () => {
      expect(shipped().get(source)?.question(pair).request).toMatchObject({ method: "GET", url, headers: {} });
    });
  }
});

describe("a source file is refused, with its name and what to mend,", () => {
  const cases: [change: Record<string, unknown>, message: RegExp][] = [
    [{ surprise: 1 }, /changed\.json.*\n.*\/surprise/],
    [{ decimals: 8 }, /\/decimals/],
    [{ type: "float" }, /\/type/],
    [{ rounding: "up" }, /\/rounding/],
    [{ method: "PUT" }, /\/method/],
    [{ method: "POST" }, /changed\.json: POST has a body/],
    [{ headers: { authorization: "x" } }, /changed\.json: headers: authorization/],
    [{ hash: true }, /\/hash/],
    [{ pairs: ["ethusd"] }, /\/pairs\/0/],
    [{ url: "http://api.example.com/{base}{quote}" }, /changed\.json: http:.*begins with "https/],
    [{ path: "$..price" }, /changed\.json: \$\.\.price: "\.\." is not allowed/],
    [{ errorPath: "oops" }, /changed\.json: oops is not a JSONPath/],
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
    expect(() => loadSources([SHIPPED_SOURCES, folderWith({})])).toThrow('another source named "coinbase"');
  });

  it("for another rate limit than its neighbour at the same origin", () => {
    const other = folderWith({ name: "other", rateLimit: { perSecond: 11, burst: 15 } });
    expect(() => loadSources([SHIPPED_SOURCES, other])).toThrow('rateLimit is not that of "coinbase"');
  });

  it("for not being there", () => {
    expect(() => loadSources(["/nowhere.json"])).toThrow("/nowhere.json cannot be read: ENOENT.");
  });
});
