import type { FastifyInstance } from "fastify";
import type { SimulatedPrices } from "../simulated-prices.js";

/**
 * Coinbase Exchange's public ticker. A pair that it does not list is answered with HTTP 404 and a message.
 * Format: https://docs.cdp.coinbase.com/exchange/reference/exchangerestapi_getproductticker
 */
export function addTicker(app: FastifyInstance, prices: SimulatedPrices): void {
  app.get<{ Params: { pair: string } }>("/products/:pair/ticker", (request, reply) => {
    const quote = prices.quote("coinbase", request.params.pair);
    if (quote === null) return reply.status(404).send({ message: "NotFound" });
    return reply.send({
      trade_id: 86326522,
      price: quote.last,
      size: "0.00698254",
      time: new Date().toISOString(),
      bid: quote.bid,
      ask: quote.ask,
      volume: "3571.99158476",
    });
  });
}
