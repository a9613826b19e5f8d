import type { Exchange } from "../exchange-origins.js";
import { type MarketPair, USDT_USD } from "./pairs.js";
import { PRICE_DECIMALS, RandomWalk } from "./random-walk.js";

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
  readonly #usdtUsd: RandomWalk;

  /** @param pairs The listed pairs besides USDT-USD. */
  constructor(seed: number, pairs: readonly MarketPair[]) {
    this.#usdtUsd = new RandomWalk(seed, USDT_USD.pair, USDT_USD.start, "pegged");
    const listed = pairs.map((pair) => ({ pair, walk: new RandomWalk(seed, pair.pair, pair.start) }));
    const all = [...listed, { pair: USDT_USD, walk: this.#usdtUsd }];
    this.#pairs = new Map(all.map((one) => [one.pair.pair, one]));
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
    const listedPrice = listed.walk.price;
    const walked =
      inUsd === undefined ? listedPrice : (listedPrice * 10n ** BigInt(PRICE_DECIMALS)) / this.#usdtUsd.price;
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

/**
 * Formats a scaled price with a fixed number of decimals, truncated.
 *
 * @param price Scaled by ten to the power of PRICE_DECIMALS.
 */
export function formatPrice(price: bigint, decimals: number): string {
  const digits = (price / 10n ** BigInt(PRICE_DECIMALS - decimals)).toString().padStart(decimals + 1, "0");
  if (decimals === 0) return digits;
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}
