import { createHash } from "node:crypto";
import { type Choices, seededChoices } from "@dataset-oracle/tools/seeded-random";
import { type MarketPair, USDT_USD } from "./pairs.js";
import { PRICE_DECIMALS, RandomWalk } from "./random-walk.js";

/** The largest steady difference of an exchange's prices from the walk, in millionths: 1.5 basis points. */
const MAX_OFFSET_PPM = 150;

/** The largest difference between a trade and the price of its second, in millionths. Every answer names another trade. */
const MAX_TRADE_PPM = 150;

/** The spread on either side of the last price, in millionths. */
const HALF_SPREAD_PPM = 50n;

/** An exchange's quote of a pair, as decimal text in that exchange's precision. */
export interface Quote {
  readonly last: string;
  readonly bid: string;
  readonly ask: string;
}

/**
 * The current prices of the market. Exchanges differ by a few basis points, and so do two answers of one exchange within
 * a second, because trades are made all the time: providers that read at nearly the same time get different values, as
 * from real exchanges. All of it follows from the seed and the order of the requests.
 */
export class SimulatedPrices {
  /** By exchange: its steady offset in millionths, and the stream of its trades. */
  readonly #exchanges = new Map<string, { readonly offset: number; readonly trades: Choices }>();
  readonly #pairs: ReadonlyMap<string, { readonly pair: MarketPair; readonly walk: RandomWalk }>;
  readonly #usdtUsd: RandomWalk;

  /**
   * @param pairs The listed pairs besides USDT-USD.
   * @param standsStill True if every answer names the same trade.
   */
  constructor(
    private readonly seed: number,
    pairs: readonly MarketPair[],
    private readonly standsStill = false,
  ) {
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
  quote(exchange: string, name: string): Quote | null {
    const inUsd = name.endsWith("-USDT") ? this.#pairs.get(name.slice(0, -1)) : undefined;
    const listed = inUsd ?? this.#pairs.get(name);
    if (listed === undefined) return null;
    const listedPrice = listed.walk.price;
    const walked =
      inUsd === undefined ? listedPrice : (listedPrice * 10n ** BigInt(PRICE_DECIMALS)) / this.#usdtUsd.price;
    const decimals: Readonly<Record<string, number>> & MarketPair["decimals"] = listed.pair.decimals;
    const spell = (ppm: bigint) => {
      const price = (walked * (1_000_000n + ppm)) / 1_000_000n;
      return formatPrice(price, decimals[exchange] ?? decimals.coinbase);
    };
    const { offset, trades } = this.#exchange(exchange);
    const last = BigInt(offset + (this.standsStill ? 0 : upTo(MAX_TRADE_PPM, trades)));
    return { last: spell(last), bid: spell(last - HALF_SPREAD_PPM), ask: spell(last + HALF_SPREAD_PPM) };
  }

  /** Returns the quotes of all listed pairs. With `USDT`, pairs with USD are quoted in USDT instead. */
  quotes(exchange: string, dollar: "USD" | "USDT" = "USD"): { name: string; quote: Quote }[] {
    return this.names().flatMap((listed) => {
      if (dollar === "USDT" && listed === "USDT-USD") return [];
      const name = dollar === "USDT" && listed.endsWith("-USD") ? `${listed}T` : listed;
      const quote = this.quote(exchange, name);
      return quote === null ? [] : [{ name, quote }];
    });
  }

  #exchange(name: string) {
    const known = this.#exchanges.get(name);
    if (known !== undefined) return known;
    const trades = seededChoices(this.seed, createHash("sha256").update(name).digest().readInt32LE());
    const exchange = { offset: upTo(MAX_OFFSET_PPM, trades), trades };
    this.#exchanges.set(name, exchange);
    return exchange;
  }

  /** Returns the names of the listed pairs. */
  names(): string[] {
    return [...this.#pairs.keys()];
  }
}

/** Draws an integer between the two bounds, -most and most. */
const upTo = (most: number, choices: Choices) => choices.below(2 * most + 1) - most;

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
