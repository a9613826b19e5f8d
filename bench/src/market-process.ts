// Runs a simulated market with the given number of pairs, and sends its URL and the pairs to the parent process.

import { startMarket } from "@dataset-oracle/devnet/simulated-market/server";

const LETTERS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
// Three-letter symbols for which no exchange has an alias.
const symbols = ["J", "Q"].flatMap((a) => LETTERS.flatMap((b) => LETTERS.map((c) => a + b + c)));
const decimals = { coinbase: 2, kraken: 5, bitstamp: 2 };

const pairs = symbols.slice(0, Number(process.argv[2])).map((symbol, i) => ({
  pair: `${symbol}-USD`,
  start: `${100 + i}.25`,
  decimals,
}));
const market = await startMarket({ pairs });
process.send?.({ url: market.url, pairs: pairs.map(({ pair }) => pair) });
process.once("disconnect", () => market.close());
