import type { Exchange, MarketPair } from "./pairs.js";
import { toText, Walk } from "./walk.js";

/** How far each exchange stands off the walk, in millionths: as real ones differ, and well below 0.1 %. */
const OFFSET_PPM: Readonly<Record<Exchange, bigint>> = { coinbase: 0n, kraken: 120n, bitstamp: -90n };

/** The spread on either side of the last price, in millionths. */
const HALF_SPREAD_PPM = 50n;

/** What an exchange's ticker says of a pair: decimal text, spelled as that exchange does. */
export interface Quote {
  readonly last: string;
  readonly bid: string;
  readonly ask: string;
}

/** All of the market's prices, now. */
export class Prices {
  readonly #pairs: ReadonlyMap<string, { readonly pair: MarketPair; readonly walk: Walk }>;

  constructor(seed: number, pairs: readonly MarketPair[]) {
    this.#pairs = new Map(pairs.map((pair) => [pair.pair, { pair, walk: new Walk(seed, pair.pair, pair.start) }]));
  }

  /** Moves every price by one step. */
  step(): void {
    for (const { walk } of this.#pairs.values()) walk.step();
  }

  /** An exchange's quote of a pair (`<BASE>-<QUOTE>`), or null where it is not listed. */
  quote(exchange: Exchange, name: string): Quote | null {
    const listed = this.#pairs.get(name);
    if (listed === undefined) return null;
    const spell = (ppm: bigint) => {
      const price = (listed.walk.price * (1_000_000n + ppm)) / 1_000_000n;
      return toText(price, listed.pair.decimals[exchange]);
    };
    const offset = OFFSET_PPM[exchange];
    return { last: spell(offset), bid: spell(offset - HALF_SPREAD_PPM), ask: spell(offset + HALF_SPREAD_PPM) };
  }

  /** The listed pairs' names. */
  names(): string[] {
    return [...this.#pairs.keys()];
  }
}
