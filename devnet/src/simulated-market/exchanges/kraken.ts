import type { FastifyInstance } from "fastify";
import type { Quote, SimulatedPrices } from "../simulated-prices.js";

const SPELLING: Readonly<Record<string, string>> = { BTC: "XBT", DOGE: "XDG" };

/** In Kraken's own pair names, its oldest assets have a class letter: X for coins, Z for fiat. */
const CLASSED_COINS = new Set(["XBT", "ETH", "LTC", "XRP", "XLM"]);
const CLASSED_QUOTES: Readonly<Record<string, string>> = { USD: "ZUSD", EUR: "ZEUR", GBP: "ZGBP", XBT: "XXBT" };

/**
 * Kraken's public ticker, of the pairs that are asked for or of all. Every answer is HTTP 200; a failure is named in
 * `error`, and then there is no `result`.
 * Format: https://docs.kraken.com/api-reference/market-data/get-ticker-information
 */
export function addTicker(app: FastifyInstance, prices: SimulatedPrices): void {
  const names = new Map(prices.names().flatMap((name) => [requestName(name), ownName(name)].map((key) => [key, name])));
  app.get<{ Querystring: { pair?: string } }>("/0/public/Ticker", (request, reply) => {
    const asked = request.query.pair?.split(",").map((name) => names.get(name)) ?? prices.names();
    const result: Record<string, unknown> = {};
    for (const name of asked) {
      const quote = name === undefined ? null : prices.quote("kraken", name);
      if (name === undefined || quote === null) return reply.send({ error: ["EQuery:Unknown asset pair"] });
      result[ownName(name)] = ticker(quote);
    }
    return reply.send({ error: [], result });
  });
}

function ticker({ last, bid, ask }: Quote) {
  return {
    a: [ask, "1", "1.000"],
    b: [bid, "1", "1.000"],
    c: [last, "0.01000000"],
    v: ["1034.52191207", "2156.33800000"],
    p: [last, last],
    t: [8421, 17903],
    l: [bid, bid],
    h: [ask, ask],
    o: last,
  };
}

const spelled = (name: string) => name.split("-").map((symbol) => SPELLING[symbol] ?? symbol);

/** Returns the name of a pair in requests: `BTC-USD` is XBTUSD. */
const requestName = (name: string) => spelled(name).join("");

/** Returns the name of a pair in answers: `BTC-USD` is XXBTZUSD, while `SOL-USD` is SOLUSD. */
function ownName(name: string): string {
  const [base = "", quote = ""] = spelled(name);
  const classed = CLASSED_QUOTES[quote];
  if (base === "USDT") return `${base}${classed}`;
  return classed !== undefined && CLASSED_COINS.has(base) ? `X${base}${classed}` : base + quote;
}
