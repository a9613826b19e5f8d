import type { FastifyInstance } from "fastify";
import type { SimulatedPrices } from "../simulated-prices.js";

/**
 * Binance's public prices, of one symbol or of all. It quotes in USDT, not in US dollars.
 * Format: https://developers.binance.com/docs/binance-spot-api-docs/rest-api/market-data-endpoints#symbol-price-ticker
 */
export function addTicker(app: FastifyInstance, prices: SimulatedPrices): void {
  app.get<{ Querystring: { symbol?: string } }>("/api/v3/ticker/price", (request, reply) => {
    const all = prices.quotes("binance", "USDT").map(({ name, quote }) => ({
      symbol: name.replace("-", ""),
      price: quote.last,
    }));
    if (request.query.symbol === undefined) return reply.send(all);
    const one = all.find(({ symbol }) => symbol === request.query.symbol);
    return one === undefined ? reply.status(400).send({ code: -1121, msg: "Invalid symbol." }) : reply.send(one);
  });
}
