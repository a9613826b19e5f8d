import { ok } from "@dataset-oracle/protocol/result";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { loadSources, SHIPPED_SOURCES } from "../src/source/load-sources.js";
import { SourceReader } from "../src/source/source-reader.js";
import type { SourceRequest } from "../src/source/source-request.js";
import { json, startFakeExchanges } from "./support/fake-exchanges.js";
import { ownRateLimit, startProvider } from "./support/test-provider.js";

const SOURCES = new Map(loadSources([SHIPPED_SOURCES]).map((source) => [source.name, source]));

/** A reader of sources that answer with the present status, and what was asked. */
function open() {
  const asked: string[] = [];
  const http = { status: 200 };
  const fetchText = async ({ url }: { readonly url: string }) => {
    asked.push(url);
    return ok({ ...http, contentType: "application/json", retryAfter: null, text: "{}" });
  };
  const reader = new SourceReader({
    egress: { fetchText },
    timeoutMs: 10_000,
    hasReserve: false,
    now: () => BigInt(asked.length),
    random: () => 0,
  });
  const outcomeOf = async (request: SourceRequest) => {
    const reading = await reader.read(request, false);
    return reading.ok ? "ok" : reading.error.code;
  };
  return { asked, http, outcomeOf };
}

function requestOf(name: string, pair = "ETH-USD"): SourceRequest {
  const query = SOURCES.get(name)?.queries.get(pair);
  if (query === undefined) throw new Error(`${name} has no ${pair}.`);
  return query.request;
}
const ofSpec = (url: string): SourceRequest => ({ method: "GET", url, rateLimit: { perSecond: 5, burst: 5 } });

describe("a source", () => {
  beforeEach(() => {
    // The clock of the waits stands still.
    vi.useFakeTimers({ toFake: ["performance"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("that says that its limit is used up is left alone for all of its pairs, and by published specs", async () => {
    const { asked, http, outcomeOf } = open();
    http.status = 429;
    for (const request of [
      requestOf("coinbase"),
      requestOf("coinbase", "BTC-USD"),
      ofSpec(requestOf("coinbase").url),
    ]) {
      expect(await outcomeOf(request)).toBe("throttled");
    }
    expect(asked).toHaveLength(1);
  });

  it("that says so to a published spec is still asked for its prices", async () => {
    const { http, outcomeOf } = open();
    http.status = 429;
    expect(await outcomeOf(ofSpec(requestOf("okx").url))).toBe("throttled");
    http.status = 200;
    expect(await outcomeOf(requestOf("okx"))).toBe("ok");
  });

  it("that fails for one of its pairs is asked for the others", async () => {
    const { asked, http, outcomeOf } = open();
    http.status = 404;
    for (let i = 0; i < 3; ++i) expect(await outcomeOf(requestOf("coinbase", "BTC-USD"))).toBe("http_status");
    http.status = 200;
    expect(await outcomeOf(requestOf("coinbase"))).toBe("ok");
    expect(asked).toHaveLength(2);
  });
});

it("a provider logs that a source fails when it starts to, and when it answers again, and not each time", async () => {
  const exchanges = await startFakeExchanges();
  const { redirectedOrigins } = exchanges;
  const provider = await startProvider({ redirectedOrigins }, { rateLimitOf: ownRateLimit });
  const linesAfterAsking = async () => {
    provider.clock.now += 1;
    await provider.ask();
    return provider.logs.filter(({ source }) => source === "bitstamp").map(({ msg, failure }) => [msg, failure]);
  };
  exchanges.quote("2000", "2002", "2001");
  exchanges.behave("bitstamp", json("{}", 500));
  const started = ["source is failing and is queried less often until it answers again", "http_status"];
  for (let i = 0; i < 3; ++i) expect(await linesAfterAsking()).toEqual([started]);
  const count = await provider.registry.metrics();
  expect(count).toContain('provider_source_back_offs_total{source="bitstamp"} 1');

  exchanges.quote("2000", "2002", "2001");
  await expect.poll(linesAfterAsking, { interval: 200 }).toEqual([started, ["source answers again", undefined]]);
  await provider.close();
  await exchanges.close();
});
