import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { EXCHANGES as ALL } from "@dataset-oracle/devnet/exchange-origins";
import { startLocalServer } from "@dataset-oracle/devnet/test-support/local-server";

/** How an exchange answers a request for `url`. */
export type ExchangeBehaviour = (response: ServerResponse, url: string) => void;

export const EXCHANGES = ["coinbase", "kraken", "bitstamp"] as const;
export type FakedExchange = (typeof EXCHANGES)[number];

/** The shipped sources that nothing stands in for here. */
export const OTHER_SOURCES = ALL.filter((name) => !EXCHANGES.some((faked) => faked === name));

/** A local server that stands in for the three exchanges; each can be told how to behave. */
export async function startFakeExchanges() {
  const behaviours = new Map<string, ExchangeBehaviour>();
  const requests: string[] = [];
  const { url, close } = await startLocalServer((request, response) => {
    const url = request.url ?? "";
    requests.push(url);
    const behaviour = behaviours.get(url.split("/")[1] ?? "");
    if (behaviour === undefined) response.writeHead(404).end();
    else behaviour(response, url);
  });
  return {
    url,
    /** Every request that came, as `/<exchange>/<path>`. */
    requests,
    behave: (exchange: FakedExchange, behaviour: ExchangeBehaviour) => behaviours.set(exchange, behaviour),
    /** All three answer these prices, in their own formats. The quotes are of the tests' clock, or of another time. */
    quote(coinbase: string, kraken: string, bitstamp: string, quoted?: number) {
      behaviours.set("coinbase", json(coinbaseTicker(coinbase, quoted)));
      behaviours.set("kraken", json(krakenTicker(kraken)));
      behaviours.set("bitstamp", json(bitstampTicker(bitstamp, undefined, quoted)));
    },
    /** The configuration that sends a provider here. */
    redirectedOrigins: {
      "https://api.exchange.coinbase.com": `${url}/coinbase`,
      "https://api.kraken.com": `${url}/kraken`,
      "https://www.bitstamp.net": `${url}/bitstamp`,
    },
    close,
  };
}

/** Answers JSON text with HTTP 200, or another status. */
export const json =
  (body: string, status = 200): ExchangeBehaviour =>
  (response) =>
    response.writeHead(status, { "content-type": "application/json; charset=utf-8" }).end(body);

/** The time of the quotes: that of the tests' clock. */
const QUOTED = 1_800_001_000;

/** A spread that every price of the tests lies in. */
const SPREAD = '"bid":"0.00000001","ask":"1000000000"';

export const coinbaseTicker = (price: string, quoted = QUOTED) =>
  `{"trade_id":86326522,"price":"${price}","size":"0.00698254","time":"${new Date(quoted * 1_000).toISOString()}",${SPREAD},"volume":"53602.03940154"}`;

const KRAKEN = JSON.parse(readFileSync(new URL("../../sources/kraken.json", import.meta.url), "utf8")).symbols;

function krakenName(pair: string): string {
  const spelled = pair.split("-").map((symbol) => KRAKEN.spelling[symbol] ?? symbol);
  return KRAKEN.pairs[pair] ?? spelled.join("");
}

/** The tickers of all pairs, at one price. */
export const krakenTicker = (price: string, pairs = ["ETH-USD", "BTC-USD"]) => {
  const ticker = `{"a":["1000000000","1","1.000"],"b":["0.00000001","1","1.000"],"c":["${price}","0.01"],"v":["1","2"],"p":["1","2"],"t":[1,2],"l":["1","2"],"h":["1","2"],"o":"1"}`;
  return `{"error":[],"result":{${pairs.map((pair) => `"${krakenName(pair)}":${ticker}`).join(",")}}}`;
};

/** The tickers of all pairs, at one price. */
export const bitstampTicker = (price: string, pairs = ["ETH-USD", "BTC-USD"], quoted = QUOTED) =>
  `[${pairs
    .map(
      (pair) =>
        `{"timestamp":"${quoted}","open":"1","high":"2","low":"1","last":"${price}","volume":"213.26801100","vwap":"1",${SPREAD},"side":"0","open_24":"1","percent_change_24":"13.57","pair":"${pair.replace("-", "/")}"}`,
    )
    .join(",")}]`;
