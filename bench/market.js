// A simulated market with as many pairs as told, in a process of its own; its parent is sent its url and their names.

import { startMarket } from "@dataset-oracle/devnet/market/server";

const LETTERS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
// Three letters, as most symbols have, that no exchange spells in another way.
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
