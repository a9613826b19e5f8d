import type { FastifyInstance } from "fastify";
import type { SimulatedPrices } from "../simulated-prices.js";

/**
 * OKX's public tickers, of all spot pairs. Here it quotes in USDT, not in US dollars.
 * Format: https://www.okx.com/docs-v5/en/#order-book-trading-market-data-get-tickers
 */
export function addTicker(app: FastifyInstance, prices: SimulatedPrices): void {
  app.get<{ Querystring: { instType?: string } }>("/api/v5/market/tickers", (request, reply) => {
    if (request.query.instType !== "SPOT") {
      return reply.status(400).send({ code: "51000", msg: "Parameter instType error", data: [] });
    }
    const data = prices.quotes("okx", "USDT").map(({ name, quote }) => ({
      instType: "SPOT",
      instId: name,
      last: quote.last,
      lastSz: "0.044378",
      askPx: quote.ask,
      askSz: "4.2",
      bidPx: quote.bid,
      bidSz: "6.050058",
      open24h: quote.last,
      high24h: quote.ask,
      low24h: quote.bid,
      volCcy24h: "11788.887619",
      vol24h: "167493.829229",
      ts: String(Date.now()),
      sodUtc0: quote.last,
      sodUtc8: quote.last,
    }));
    return reply.send({ code: "0", msg: "", data });
  });
}
