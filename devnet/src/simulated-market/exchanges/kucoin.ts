import type { FastifyInstance } from "fastify";
import type { SimulatedPrices } from "../simulated-prices.js";

/**
 * KuCoin's public tickers, of all pairs. Here it quotes in USDT, not in US dollars.
 * Format: https://www.kucoin.com/docs-new/rest/spot-trading/market-data/get-all-tickers
 */
export function addTicker(app: FastifyInstance, prices: SimulatedPrices): void {
  app.get("/api/v1/market/allTickers", () => {
    const ticker = prices.quotes("kucoin", "USDT").map(({ name, quote }) => ({
      symbol: name,
      symbolName: name,
      buy: quote.bid,
      bestBidSize: "0.32",
      sell: quote.ask,
      bestAskSize: "0.41",
      changeRate: "-0.0055",
      changePrice: "-63.6",
      high: quote.ask,
      low: quote.bid,
      vol: "2282.70993217",
      volValue: "25984946.157790431",
      last: quote.last,
      averagePrice: quote.last,
      takerFeeRate: "0.001",
      makerFeeRate: "0.001",
      takerCoefficient: "1",
      makerCoefficient: "1",
    }));
    return { code: "200000", data: { time: Date.now(), ticker } };
  });
}
