import type { FastifyInstance } from "fastify";
import type { SimulatedPrices } from "../simulated-prices.js";

const SPELLING: Readonly<Record<string, string>> = { USDT: "UST", ALGO: "ALG", BCH: "BCHN" };

/**
 * Bitfinex's public tickers, of the symbols that are asked for or of ALL. Prices are numbers, in as few digits as they
 * need; a symbol that it does not list is left out. Format: https://docs.bitfinex.com/reference/rest-public-tickers
 */
export function addTicker(app: FastifyInstance, prices: SimulatedPrices): void {
  app.get<{ Querystring: { symbols?: string } }>("/v2/tickers", (request, reply) => {
    const asked = request.query.symbols;
    if (asked === undefined) return reply.status(500).send(["error", 10020, "symbols: invalid"]);
    const rows = prices.quotes("bitfinex").map(({ name, quote: { last, bid, ask } }) => {
      const [price, low, high] = [last, bid, ask].map(Number);
      return [symbolOf(name), low, 31.2, high, 24.9, 12, 0.0035, price, 1482.3, high, low];
    });
    const symbols = asked.split(",");
    return reply.send(rows.filter(([symbol]) => asked === "ALL" || symbols.includes(String(symbol))));
  });
}

/** A base of more than three letters is separated from the quote by a colon. */
function symbolOf(name: string): string {
  const [base = "", quote = ""] = name.split("-").map((symbol) => SPELLING[symbol] ?? symbol);
  return `t${base}${base.length > 3 ? ":" : ""}${quote}`;
}
