/** A pair of the simulated market. */
export interface MarketPair {
  /** `<BASE>-<QUOTE>`. */
  readonly pair: string;
  /** The start of its random walk: a realistic price as decimal text. */
  readonly start: string;
  /** The decimals of its price on Coinbase, Kraken and Bitstamp. The other exchanges use those of Coinbase. */
  readonly decimals: { readonly coinbase: number; readonly kraken: number; readonly bitstamp: number };
}

/** The rate that converts quotes in USDT to USD, listed by exchanges that have both. */
export const USDT_USD: MarketPair = row("USDT-USD", "0.99985", 5, 5, 5);

/**
 * Pairs that the real Coinbase Exchange, Kraken and Bitstamp have all listed, so that the devnet's keys are keys that
 * a provider can serve from the real exchanges too. Listings change: if an exchange has dropped a pair since, it
 * answers with its error, and the provider counts the source as failed.
 */
export const MARKET_PAIRS: readonly MarketPair[] = [
  row("BTC-USD", "67012.34", 2, 5, 0),
  row("ETH-USD", "3421.75", 2, 2, 1),
  row("SOL-USD", "151.08", 2, 2, 2),
  row("XRP-USD", "0.52417", 4, 5, 5),
  row("ADA-USD", "0.44862", 4, 6, 5),
  row("DOGE-USD", "0.158731", 5, 7, 5),
  row("LTC-USD", "83.46", 2, 2, 2),
  row("LINK-USD", "17.2854", 3, 5, 3),
  row("AVAX-USD", "35.614", 2, 2, 3),
  row("DOT-USD", "7.1093", 3, 4, 4),
  row("BCH-USD", "466.81", 2, 2, 2),
  row("UNI-USD", "10.2746", 3, 3, 4),
  row("AAVE-USD", "103.92", 2, 2, 2),
  row("XLM-USD", "0.106284", 6, 6, 5),
  row("ALGO-USD", "0.180532", 4, 5, 5),
  row("SHIB-USD", "0.00002471", 8, 9, 8),
  row("GRT-USD", "0.304518", 4, 5, 5),
  row("CRV-USD", "0.496275", 4, 4, 5),
  row("COMP-USD", "58.37", 2, 2, 2),
  row("BAT-USD", "0.234186", 4, 5, 5),
  row("SUI-USD", "1.10427", 4, 4, 5),
  row("BTC-EUR", "61703.58", 2, 5, 0),
  row("ETH-EUR", "3150.64", 2, 2, 1),
  row("SOL-EUR", "139.11", 2, 2, 2),
  row("XRP-EUR", "0.48264", 4, 5, 5),
  row("LTC-EUR", "76.85", 2, 2, 2),
  row("BTC-GBP", "52614.92", 2, 5, 0),
  row("ETH-BTC", "0.051062", 5, 5, 8),
  row("LTC-BTC", "0.0012454", 6, 7, 8),
];

function row(pair: string, start: string, coinbase: number, kraken: number, bitstamp: number): MarketPair {
  return { pair, start, decimals: { coinbase, kraken, bitstamp } };
}
