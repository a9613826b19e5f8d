import type { FastifyInstance } from "fastify";
import type { SimulatedPrices } from "../simulated-prices.js";

/** Gemini's public price feed, of all pairs. Format: https://docs.gemini.com/rest-api/#price-feed */
export function addTicker(app: FastifyInstance, prices: SimulatedPrices): void {
  app.get("/v1/pricefeed", () =>
    prices.quotes("gemini").map(({ name, quote }) => ({
      pair: name.replace("-", ""),
      price: quote.last,
      percentChange24h: "0.0146",
    })),
  );
}
