import { MARKET_PAIRS } from "@dataset-oracle/devnet/simulated-market/pairs";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  bitstampTicker,
  coinbaseTicker,
  EXCHANGES,
  type FakeExchanges,
  json,
  krakenTicker,
  startFakeExchanges,
} from "./support/fake-exchanges.js";
import { DATASET, startProvider, type TestProvider } from "./support/test-provider.js";

const PAIRS = MARKET_PAIRS.map(({ pair }) => pair);
const KEYS = PAIRS.map(spotPriceKey);
const KRAKEN = krakenTicker("100", PAIRS);
const BITSTAMP = bitstampTicker("100", PAIRS);
const DEPLOYMENTS = [
  {
    chainId: 42,
    datasets: [
      {
        name: "financial",
        address: DATASET,
        kind: "median" as const,
        keyForm: "SPOT_PRICE" as const,
        keys: KEYS,
      },
    ],
  },
];

/** Answers like an exchange that allows so many requests until the test is over. */
function limited(answer: string, allowed: number) {
  let count = 0;
  return (...[response, url]: Parameters<ReturnType<typeof json>>) => {
    count += 1;
    json(count > allowed ? "{}" : answer, count > allowed ? 429 : 200)(response, url);
  };
}

let servers: FakeExchanges[];
let redirectedOrigins: Record<string, string>;
let provider: TestProvider;
beforeEach(async () => {
  // Each exchange has its own origin, as in reality.
  servers = await Promise.all(EXCHANGES.map(() => startFakeExchanges()));
  redirectedOrigins = Object.fromEntries(servers.map((server, i) => Object.entries(server.redirectedOrigins)[i] ?? []));
  behave(limited(coinbaseTicker("100"), 10), limited(KRAKEN, 2), limited(BITSTAMP, 2));
});
afterEach(async () => {
  await provider.close();
  await Promise.all(servers.map((server) => server.close()));
});

function behave(...behaviours: ReturnType<typeof json>[]): void {
  for (const [i, name] of EXCHANGES.entries()) servers[i]?.behave(name, behaviours[i] ?? json(""));
}

const requests = () => servers.map((server) => server.requests.length);

const askAll = (timestamp: number, headers: Record<string, string> = {}) =>
  Promise.all(KEYS.map((key) => provider.ask({ key, timestamp }, headers)));

const isUnsigned = ({ status, body }: Awaited<ReturnType<TestProvider["ask"]>>) =>
  status === 503 && body.code === "source_busy" && body.signature === undefined;

describe("healthy exchanges that enforce their rate limits", () => {
  it("never make the provider sign NOT_AVAILABLE, whatever is asked at once", async () => {
    provider = await startProvider({ redirectedOrigins, minSources: 3 }, { deployments: DEPLOYMENTS });
    const { now } = provider.clock;
    const answers = await askAll(now);
    for (const answer of answers) expect(answer.body.outcome === "OK" || isUnsigned(answer), answer.text).toBe(true);
    expect(answers.some(isUnsigned)).toBe(true);
    expect(provider.logs.some(({ outcome }) => outcome === "NOT_AVAILABLE")).toBe(false);
    for (const { headers } of answers.filter(isUnsigned)) expect(headers.get("retry-after")).toBe("1");
  });

  it("are asked once a second for a price, whatever rounds it is asked for", async () => {
    provider = await startProvider({ redirectedOrigins });
    const { now } = provider.clock;
    const rounds = [5, 4, 3, 2, 1, 0].map((age) => provider.ask({ timestamp: now - age }));
    for (const { body } of await Promise.all(rounds)) expect(body.outcome).toBe("OK");
    expect(requests()).toEqual([1, 1, 1]);
    provider.clock.now += 1;
    expect((await provider.ask({ timestamp: now + 1 })).body.outcome).toBe("OK");
    expect(requests()).toEqual([2, 2, 2]);
  });
});

describe("a source that says that its limit is used up", () => {
  const down = json("{}", 500);
  it.each<[what: string, behaviour: ReturnType<typeof json>, retryAfter: string]>([
    ["HTTP 429", json("{}", 429), "1"],
    ["HTTP 503 with a time", (r) => r.writeHead(503, { "retry-after": "3" }).end(), "3"],
  ])("by %s is no reason to sign that there is no data", async (_, behaviour, retryAfter) => {
    behave(behaviour, down, json(BITSTAMP));
    provider = await startProvider({ redirectedOrigins });
    const answer = await provider.ask();
    expect(isUnsigned(answer), answer.text).toBe(true);
    expect(answer.headers.get("retry-after")).toBe(retryAfter);
    expect(provider.logs.some(({ msg }) => msg === "report signed")).toBe(false);

    // The same round, once the source answers again; until then it is not asked in this second.
    behave(json(coinbaseTicker("100")), down, json(BITSTAMP));
    const round = provider.clock.now;
    provider.clock.now += 1;
    expect((await provider.ask({ timestamp: round })).body.outcome).toBe("OK");
  });

  it("changes nothing when too few would answer without it: then there is no data", async () => {
    behave(json("{}", 429), down, down);
    provider = await startProvider({ redirectedOrigins });
    expect((await provider.ask()).body.outcome).toBe("NOT_AVAILABLE");
  });
});

describe("configured operators", () => {
  const OPERATOR = { "x-forwarded-for": "198.51.100.7" };
  const ANONYMOUS = { "x-forwarded-for": "203.0.113.9" };
  const settings = { trustedProxies: ["127.0.0.1"], operators: ["198.51.100.0/24"] };

  it("have a part of the sources' limits that anonymous callers cannot use up", async () => {
    behave(json(coinbaseTicker("100")), json("{}", 500), json(BITSTAMP));
    // As coinbase's, but nothing flows in during the test, however slow it is.
    const rateLimit = { perSecond: 0.001, burst: 15 };
    const options = { deployments: DEPLOYMENTS, rateLimitOf: () => rateLimit };
    provider = await startProvider({ ...settings, redirectedOrigins }, options);
    const round = provider.clock.now;
    const anonymous = await askAll(round, ANONYMOUS);
    const refused = KEYS.filter((_, i) => anonymous[i] !== undefined && isUnsigned(anonymous[i]));
    expect(refused).toHaveLength(KEYS.length - 8);
    const asOperator = (key: string) => provider.ask({ key, timestamp: round }, OPERATOR);
    const operators = await Promise.all(refused.slice(0, 7).map(asOperator));
    expect(operators.map(({ body }) => body.outcome)).toEqual(Array(7).fill("OK"));
    expect(isUnsigned(await asOperator(refused[7] ?? ""))).toBe(true);
  });
});
