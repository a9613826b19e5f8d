import type { FastifyInstance } from "fastify";
import type { Quote, SimulatedPrices } from "../simulated-prices.js";

/**
 * Bitstamp's public ticker, of one pair or of all. Format: https://www.bitstamp.net/api/#tag/Tickers
 *
 * A pair that it does not list is answered with HTTP 404. The form of the error's body is documented for other calls,
 * and not verified for this one.
 */
export function addTicker(app: FastifyInstance, prices: SimulatedPrices): void {
  const names = new Map(prices.names().map((name) => [name.replace("-", "").toLowerCase(), name]));
  app.get("/api/v2/ticker/", () =>
    prices.quotes("bitstamp").map(({ name, quote }) => ({ ...ticker(quote), pair: name.replace("-", "/") })),
  );
  app.get<{ Params: { pair: string } }>("/api/v2/ticker/:pair/", (request, reply) => {
    const name = names.get(request.params.pair);
    const quote = name === undefined ? null : prices.quote("bitstamp", name);
    if (quote === null) return reply.status(404).send({ status: "error", reason: "Not found" });
    return reply.send(ticker(quote));
  });
}

function ticker(quote: Quote) {
  return {
    timestamp: String(Math.floor(Date.now() / 1000)),
    open: quote.last,
    high: quote.ask,
    low: quote.bid,
    last: quote.last,
    volume: "213.26801100",
    vwap: quote.last,
    bid: quote.bid,
    ask: quote.ask,
    side: "0",
    open_24: quote.last,
    percent_change_24: "0.00",
  };
}
