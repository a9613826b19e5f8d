import { marketRedirects } from "@dataset-oracle/devnet/exchange-origins";
import { MARKET_PAIRS } from "@dataset-oracle/devnet/simulated-market/pairs";
import { type Market, startMarket } from "@dataset-oracle/devnet/simulated-market/server";
import { formatSpotPrice } from "@dataset-oracle/protocol/client/format-spot-price";
import { SYSTEM_CLOCK } from "@dataset-oracle/service/process/context";
import { Egress } from "@dataset-oracle/service/untrusted/egress";
import { Secrets } from "@dataset-oracle/service/untrusted/secrets";
import ccxt from "ccxt";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadSources, SHIPPED_SOURCES } from "../provider/src/source/load-sources.js";
import { SourceReader } from "../provider/src/source/source-reader.js";

/** The parts of ccxt that are used; its own types are too large to be checked here. */
interface CcxtExchange {
  readonly urls: { api: Record<string, string> };
  setMarkets(markets: readonly object[]): void;
  fetchTicker(symbol: string): Promise<{ last: number }>;
  fetchTickers(symbols?: readonly string[]): Promise<Record<string, { last: number }>>;
  fetchLastPrices(symbols: readonly string[]): Promise<Record<string, { price: number }>>;
  close?(): Promise<void>;
}

interface Reference {
  /** ccxt's name of the exchange, if that is another one. */
  readonly id?: string;
  /** Where ccxt's base addresses begin, after the exchange's origin. */
  readonly path?: string;
  /** How the exchange names a pair, as ccxt's markets have it. */
  readonly marketId: (base: string, quote: string) => string;
  /** `fetchTickers` by default. */
  readonly method?: "fetchTicker" | "fetchLastPrices";
}

const joined = (base: string, quote: string) => base + quote;
const dashed = (base: string, quote: string) => `${base}-${quote}`;

/** ccxt loads its markets first; they are given to it instead, so that it asks for prices alone. */
const REFERENCES: Readonly<Record<string, Reference>> = {
  coinbase: { id: "coinbaseexchange", marketId: dashed, method: "fetchTicker" },
  kraken: { marketId: (base, quote) => `X${base}Z${quote}` },
  bitstamp: { path: "/api", marketId: (base, quote) => `${base}/${quote}` },
  gemini: { marketId: (base, quote) => joined(base, quote).toLowerCase() },
  bitfinex: { marketId: (base, quote) => `t${base}${quote}` },
  binance: { path: "/api/v3", marketId: joined, method: "fetchLastPrices" },
  okx: { marketId: dashed },
  kucoin: { marketId: dashed },
};

const SOURCES = new Map(loadSources([SHIPPED_SOURCES]).map((source) => [source.name, source]));
const BASES = ["ETH", "LTC"];
/** An exchange is compared in the first of these that it has. */
const QUOTES = ["USD", "EUR", "GBP", "BTC"];

let market: Market;
beforeAll(async () => {
  market = await startMarket({ seed: 6, standsStill: true });
});
afterAll(() => market.close());

test.each(Object.entries(REFERENCES))(
  "ccxt reads the same prices from %s's format",
  async (name, { id = name, path = "", marketId, method }) => {
    const source = SOURCES.get(name);
    if (source === undefined) throw new Error(`There is no source ${name}.`);
    const local = marketRedirects(market.url)[source.origin] ?? "";
    const Class = (ccxt as unknown as Record<string, new (options: object) => CcxtExchange>)[id];
    if (Class === undefined) throw new Error(`ccxt has no ${id}.`);
    const exchange = new Class({ enableRateLimit: false, timeout: 5_000 });
    for (const kind of Object.keys(exchange.urls.api)) exchange.urls.api[kind] = local + path;
    const listed = QUOTES.find((one) => source.queries.has(`ETH-${one}`)) ?? "";
    const bases = BASES.filter((base) => source.queries.has(`${base}-${listed}`));
    expect(bases).toContain("ETH");
    const quote = source.queries.get(`ETH-${listed}`)?.rate === null ? listed : "USDT";
    exchange.setMarkets(
      bases.map((base) => ({
        ...{ id: marketId(base, quote), symbol: `${base}/${quote}`, type: "spot", spot: true, active: true },
        ...{ base, quote, baseId: base, quoteId: quote, precision: { amount: 1e-8, price: 1e-8 }, limits: {} },
      })),
    );
    const egress = new Egress(Secrets.NONE, { redirectedOrigins: { [source.origin]: local } });
    const context = { clock: SYSTEM_CLOCK, random: () => 0, closing: new AbortController().signal };
    const reader = new SourceReader(egress, egress, context, { timeoutMs: 10_000, hasReserve: false });
    for (const base of bases) {
      const symbol = `${base}/${quote}`;
      const query = source.queries.get(`${base}-${listed}`);
      if (query === undefined) throw new Error(`${name} has no ${base}-${listed}.`);
      const ask = async () => {
        const answer = await reader.read({ ...query.request, rateLimit: null }, false);
        const reading = answer.ok ? query.read(answer.value.document) : answer;
        if (!reading.ok) throw new Error(`${reading.error.code}: ${reading.error.detail}`);
        return Number(formatSpotPrice(reading.value.value));
      };
      const theirs = async () => {
        if (method === "fetchTicker") return (await exchange.fetchTicker(symbol)).last;
        if (method === "fetchLastPrices") return (await exchange.fetchLastPrices([symbol]))[symbol]?.price;
        return (await exchange.fetchTickers([symbol]))[symbol]?.last;
      };
      const ours = await ask();
      expect(await theirs(), `${name} ${symbol}`).toBe(ours);
      const start = Number(MARKET_PAIRS.find(({ pair }) => pair === `${base}-${listed}`)?.start);
      expect(Math.abs(ours / start - 1)).toBeLessThan(0.05);
    }
    await egress.close();
    await exchange.close?.();
  },
);
