import Fastify, { type FastifyInstance } from "fastify";
import { EXCHANGES } from "../exchange-origins.js";
import { MARKET_PAIRS, type MarketPair } from "./pairs.js";
import { SimulatedPrices } from "./simulated-prices.js";
import { weatherApi } from "./weather-api.js";

/** How each exchange that has a source file answers: the file of its name in the folder adds its routes. */
export const TICKERS: readonly (readonly [
  name: string,
  addTicker: (app: FastifyInstance, prices: SimulatedPrices) => void,
])[] = await Promise.all(
  EXCHANGES.map(async (name) => [name, (await import(`./exchanges/${name}.js`)).addTicker] as const),
);

/** Sent with every answer, so that nobody takes the prices for real ones. */
const NOTICE = "simulated: no price or other value here is real";

const STEP_MS = 1_000;

interface MarketOptions {
  /** The port on loopback: a free one by default. */
  readonly port?: number;
  /** The same seed gives the same prices, step by step. */
  readonly seed?: number;
  /** The pairs that its exchanges list, besides USDT-USD. */
  readonly pairs?: readonly MarketPair[];
  /** Gives the same prices in every answer, so that two readers of a format can be compared. */
  readonly standsStill?: boolean;
}

/** A running market. Its exchanges answer under `<url>/<name>`, and an API of other values under `<url>/weather`. */
export interface Market {
  readonly url: string;
  /** Stops the market and closes its connections. */
  close(): Promise<void>;
}

/**
 * Starts a simulated market on loopback: the exchanges' public tickers, whose prices move every second.
 *
 * @throws If the port is in use.
 */
export async function startMarket({
  port = 0,
  seed = 1,
  pairs = MARKET_PAIRS,
  standsStill = false,
}: MarketOptions = {}): Promise<Market> {
  const prices = new SimulatedPrices(seed, pairs, standsStill);
  const app = Fastify({ forceCloseConnections: true });
  app.addHook("onSend", async (_request, reply) => {
    reply.header("x-simulated", NOTICE);
  });
  app.get("/", async () => ({ notice: NOTICE, seed, pairs: prices.names() }));
  for (const [name, addTicker] of TICKERS) {
    await app.register(async (scope) => addTicker(scope, prices), { prefix: `/${name}` });
  }
  await app.register(weatherApi, { prefix: "/weather" });
  const url = await app.listen({ host: "127.0.0.1", port });
  const timer = standsStill ? undefined : setInterval(() => prices.step(), STEP_MS);
  const close = async () => {
    clearInterval(timer);
    await app.close();
  };
  return { url, close };
}
