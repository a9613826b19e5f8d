/** How each exchange answers, by the name of its source file. */

export { binance } from "./binance.js";
export { bitfinex } from "./bitfinex.js";
export { bitstamp } from "./bitstamp.js";
export { coinbase } from "./coinbase.js";
export { gemini } from "./gemini.js";
export { kraken } from "./kraken.js";
export { kucoin } from "./kucoin.js";
export { okx } from "./okx.js";
