import { MARKET_PAIRS } from "@dataset-oracle/devnet/simulated-market/pairs";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import { afterAll, beforeEach, expect, onTestFinished, test } from "vitest";
import {
  bitstampTicker,
  coinbaseTicker,
  EXCHANGES,
  type ExchangeBehaviour,
  json,
  krakenTicker,
  startFakeExchanges,
} from "./support/fake-exchanges.js";
import { spotPriceDeployment } from "./support/spot-price-deployment.js";
import { startProvider, type TestProvider } from "./support/test-provider.js";

const PAIRS = MARKET_PAIRS.map(({ pair }) => pair);
const KEYS = PAIRS.map(spotPriceKey);
const BITSTAMP = bitstampTicker("100", PAIRS);
const deployments = [spotPriceDeployment({ keys: KEYS })];

const exchanges = await startFakeExchanges();
const { redirectedOrigins } = exchanges;
afterAll(() => exchanges.close());

/** Answers like an exchange that allows so many requests until the test is over. */
function limited(answer: string, allowed: number): ExchangeBehaviour {
  let count = 0;
  return (response, url) => {
    count += 1;
    json(count > allowed ? "{}" : answer, count > allowed ? 429 : 200)(response, url);
  };
}
beforeEach(() => {
  exchanges.behave("coinbase", limited(coinbaseTicker("100"), 10));
  exchanges.behave("kraken", limited(krakenTicker("100", PAIRS), 2));
  exchanges.behave("bitstamp", limited(BITSTAMP, 2));
  exchanges.requests.length = 0;
});

async function start(...options: Parameters<typeof startProvider>): Promise<TestProvider> {
  const provider = await startProvider(...options);
  onTestFinished(() => provider.close());
  return provider;
}

const isUnsigned = ({ status, body }: Awaited<ReturnType<TestProvider["ask"]>>) =>
  status === 503 && body.code === "source_busy" && body.signature === undefined;

test("healthy exchanges that enforce their rate limits never make the provider sign NOT_AVAILABLE", async () => {
  const provider = await start({ redirectedOrigins, minSources: 3 }, { deployments });
  const answers = await Promise.all(KEYS.map((key) => provider.ask({ key })));
  for (const answer of answers) expect(answer.body.outcome === "OK" || isUnsigned(answer), answer.text).toBe(true);
  expect(answers.some(isUnsigned)).toBe(true);
  for (const { headers } of answers.filter(isUnsigned)) expect(headers.get("retry-after")).toBe("1");
});

test("exchanges are asked once a second for a price, whatever rounds it is asked for", async () => {
  const provider = await start({ redirectedOrigins });
  const requests = () => EXCHANGES.map((name) => exchanges.requests.filter((url) => url.startsWith(`/${name}`)).length);
  const { now } = provider.clock;
  const rounds = [5, 4, 3, 2, 1, 0].map((age) => provider.ask({ timestamp: now - age }));
  for (const { body } of await Promise.all(rounds)) expect(body.outcome).toBe("OK");
  expect(requests()).toEqual([1, 1, 1]);
  provider.clock.now += 1;
  expect((await provider.ask()).body.outcome).toBe("OK");
  expect(requests()).toEqual([2, 2, 2]);
});

test("configured operators have a part of the sources' limits that anonymous callers cannot use up", async () => {
  exchanges.behave("coinbase", json(coinbaseTicker("100")));
  exchanges.behave("kraken", json("{}", 500));
  exchanges.behave("bitstamp", json(BITSTAMP));
  // As coinbase's, but nothing flows in during the test, however slow it is.
  const rateLimit = { perSecond: 0.001, burst: 15 };
  const settings = { trustedProxies: ["127.0.0.1"], operators: ["198.51.100.0/24"], redirectedOrigins };
  const provider = await start(settings, { deployments, rateLimitOf: () => rateLimit });
  const ask = (key: string, caller: string) => provider.ask({ key }, { "x-forwarded-for": caller });
  const anonymous = await Promise.all(KEYS.map((key) => ask(key, "203.0.113.9")));
  const refused = KEYS.filter((_, i) => anonymous[i] !== undefined && isUnsigned(anonymous[i]));
  expect(refused).toHaveLength(KEYS.length - 8);
  const operators = await Promise.all(refused.slice(0, 7).map((key) => ask(key, "198.51.100.7")));
  expect(operators.map(({ body }) => body.outcome)).toEqual(Array(7).fill("OK"));
  expect(isUnsigned(await ask(refused[7] ?? "", "198.51.100.7"))).toBe(true);
});
