/** The exchanges that providers read, and whose formats the simulated market answers in. */
export const EXCHANGES = ["coinbase", "kraken", "bitstamp", "gemini", "bitfinex", "binance", "okx", "kucoin"] as const;
export type Exchange = (typeof EXCHANGES)[number];

/** The origin of each exchange's public API. */
export const EXCHANGE_ORIGINS: Readonly<Record<Exchange, string>> = {
  coinbase: "https://api.exchange.coinbase.com",
  kraken: "https://api.kraken.com",
  bitstamp: "https://www.bitstamp.net",
  gemini: "https://api.gemini.com",
  bitfinex: "https://api-pub.bitfinex.com",
  binance: "https://data-api.binance.vision",
  okx: "https://www.okx.com",
  kucoin: "https://api.kucoin.com",
};

/** Returns the redirected origins that make a provider read a market instead of the exchanges. */
export function marketRedirects(url: string): Record<string, string> {
  return Object.fromEntries(EXCHANGES.map((name) => [EXCHANGE_ORIGINS[name], `${url}/${name}`]));
}
