import type { Exchange } from "../exchange-origins.js";
import { type MarketPair, USDT_USD } from "./pairs.js";
import { formatPrice, PRICE_DECIMALS, RandomWalk } from "./random-walk.js";

/** The offset of each exchange's prices, in millionths. Real exchanges differ too, but these stay well below 0.1 %. */
const OFFSET_PPM: Readonly<Record<Exchange, bigint>> = {
  coinbase: 0n,
  kraken: 120n,
  bitstamp: -90n,
  gemini: 60n,
  bitfinex: -150n,
  binance: 30n,
  okx: -40n,
  kucoin: 90n,
};

/** The spread on either side of the last price, in millionths. */
const HALF_SPREAD_PPM = 50n;

/** An exchange's quote of a pair, as decimal text in that exchange's precision. */
export interface Quote {
  readonly last: string;
  readonly bid: string;
  readonly ask: string;
}

/** The current prices of the market. */
export class SimulatedPrices {
  readonly #pairs: ReadonlyMap<string, { readonly pair: MarketPair; readonly walk: RandomWalk }>;

  constructor(seed: number, pairs: readonly MarketPair[]) {
    const walkOf = ({ pair, start }: MarketPair) =>
      new RandomWalk(seed, pair, start, pair === USDT_USD.pair ? "pegged" : "volatile");
    this.#pairs = new Map(pairs.map((pair) => [pair.pair, { pair, walk: walkOf(pair) }]));
  }

  /** Moves every price by one step. */
  step(): void {
    for (const { walk } of this.#pairs.values()) walk.step();
  }

  /**
   * Returns an exchange's quote of a pair (`<BASE>-<QUOTE>`), or null if the pair is not listed. Every pair with USD
   * also exists with USDT.
   */
  quote(exchange: Exchange, name: string): Quote | null {
    const inUsd = name.endsWith("-USDT") ? this.#pairs.get(name.slice(0, -1)) : undefined;
    const listed = inUsd ?? this.#pairs.get(name);
    if (listed === undefined) return null;
    const usdt = this.#pairs.get("USDT-USD")?.walk.price ?? 1n;
    const walked = inUsd === undefined ? listed.walk.price : (listed.walk.price * 10n ** BigInt(PRICE_DECIMALS)) / usdt;
    const decimals: Partial<Record<Exchange, number>> & { coinbase: number } = listed.pair.decimals;
    const spell = (ppm: bigint) => {
      const price = (walked * (1_000_000n + ppm)) / 1_000_000n;
      return formatPrice(price, decimals[exchange] ?? decimals.coinbase);
    };
    const offset = OFFSET_PPM[exchange];
    return { last: spell(offset), bid: spell(offset - HALF_SPREAD_PPM), ask: spell(offset + HALF_SPREAD_PPM) };
  }

  /** Returns the quotes of all listed pairs. With `USDT`, pairs with USD are quoted in USDT instead. */
  quotes(exchange: Exchange, dollar: "USD" | "USDT" = "USD"): { name: string; quote: Quote }[] {
    return this.names().flatMap((listed) => {
      if (dollar === "USDT" && listed === "USDT-USD") return [];
      const name = dollar === "USDT" && listed.endsWith("-USD") ? `${listed}T` : listed;
      const quote = this.quote(exchange, name);
      return quote === null ? [] : [{ name, quote }];
    });
  }

  /** Returns the names of the listed pairs. */
  names(): string[] {
    return [...this.#pairs.keys()];
  }
}
