import { readFileSync } from "node:fs";
import { metricsInTable, metricsOf } from "@dataset-oracle/devnet/test-support/metrics-table";
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { bitstampTicker, coinbaseTicker, json, startFakeExchanges } from "./support/fake-exchanges.js";
import { START, startProvider } from "./support/test-provider.js";

const exchanges = await startFakeExchanges();
afterAll(() => exchanges.close());
beforeEach(() => exchanges.quote("2000", "2002", "2001"));

type StartOptions = Parameters<typeof startProvider>[1];
const start = (options: StartOptions = {}) => startWith({}, options);

async function startWith(settings: Parameters<typeof startProvider>[0], options: StartOptions = {}) {
  const provider = await startProvider({ redirectedOrigins: exchanges.redirectedOrigins, ...settings }, options);
  onTestFinished(() => provider.close());
  /** Reads all metrics, by their names and labels. */
  const metrics = async () => {
    const lines = (await provider.registry.metrics())
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"));
    return Object.fromEntries(lines.map((line) => [line.replace(/ \S+$/, ""), Number(/\S+$/.exec(line)?.[0])]));
  };
  return { provider, metrics };
}

describe("the metrics of a provider", () => {
  test("count requests by route and by outcome, and no name that a caller makes up", async () => {
    const { provider, metrics } = await start();
    await provider.ask();
    await provider.ask();
    await provider.ask({ network_id: 7 });
    await fetch(`${provider.url}/made-up-by-a-caller`);
    expect(await metrics()).toMatchObject({
      'http_request_duration_seconds_count{method="POST",route="/report",outcome="ok"}': 2,
      'http_request_duration_seconds_count{method="POST",route="/report",outcome="unknown_network"}': 1,
      'http_request_duration_seconds_count{method="none",route="none",outcome="no_such_path"}': 1,
    });
    expect(await provider.registry.metrics()).not.toContain("made-up");
  });

  test("are those that the README lists, with their types and labels", async () => {
    const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
    const { provider } = await startWith({ operators: ["127.0.0.1"] });
    expect(metricsOf(provider.registry)).toEqual(metricsInTable(readme));
  });

  test("tell of each source how long it took, what became of its prices, and how far they lie from the value", async () => {
    const { provider, metrics } = await start();
    exchanges.behave("kraken", json("{}", 503));
    exchanges.behave("bitstamp", json(bitstampTicker("9000", ["ETH-USD"], provider.clock.now)));
    exchanges.behave("coinbase", json(coinbaseTicker("2000", provider.clock.now - 7)));
    await provider.ask();
    provider.clock.now += 1;
    exchanges.quote("2000", "2002", "2001");
    await provider.ask();
    expect(await metrics()).toMatchObject({
      'provider_source_request_duration_seconds_count{source="coinbase",outcome="ok"}': 2,
      'provider_source_request_duration_seconds_count{source="kraken",outcome="http_status"}': 1,
      'provider_source_prices_total{source="kraken",outcome="http_status"}': 1,
      'provider_source_prices_total{source="coinbase",outcome="used"}': 2,
      'provider_source_prices_total{source="bitstamp",outcome="outlier"}': 1,
      'provider_source_quote_age_seconds_sum{source="coinbase"}': 8,
      'provider_source_deviation_ratio_sum{source="coinbase"}': expect.closeTo(1 / 2001, 12),
      'provider_source_deviation_ratio_sum{source="bitstamp"}': 0,
    });
  });

  test("count what was decided, written and signed, once, and tell whether it is ready", async () => {
    const { provider, metrics } = await start();
    for (let i = 0; i < 2; ++i) {
      await provider.ask();
      await provider.askRow();
    }
    provider.clock.now += 1;
    for (const exchange of ["coinbase", "kraken"] as const)
      exchanges.behave(exchange, (response) => response.destroy());
    await provider.ask();
    expect(await metrics()).toMatchObject({
      'provider_decisions_total{form="SPOT_PRICE",outcome="OK"}': 1,
      'provider_decisions_total{form="SPOT_PRICE",outcome="NOT_AVAILABLE"}': 1,
      'provider_reports_signed_total{outcome="OK"}': 1,
      'provider_reports_signed_total{outcome="NOT_AVAILABLE"}': 1,
      provider_rows_signed_total: 1,
      // At the start, and for both rounds together.
      provider_lease_write_duration_seconds_count: 2,
      provider_remembered_decisions: 2,
      provider_ready: 1,
    });
    provider.clock.now -= 1_000;
    expect(await metrics()).toMatchObject({ provider_ready: 0 });
  });
});

test("when an operator asked last is known where operators are configured", async () => {
  const asked = "provider_operator_asked_timestamp_seconds";
  expect(await (await start()).metrics()).not.toHaveProperty(asked);
  for (const [operator, after] of [
    ["127.0.0.1", 6_000],
    ["192.0.2.1", 0],
  ] as const) {
    const { provider, metrics } = await startWith({ operators: [operator] });
    expect((await metrics())[asked]).toBe(START);
    provider.clock.now += 5_000;
    await provider.ask();
    expect((await metrics())[asked]).toBe(START + after);
  }
});

test("a source that fails is logged and counted when it starts to, and not each time", async () => {
  const { provider, metrics } = await start({ rateLimitOf: ({ rateLimit }) => rateLimit });
  exchanges.behave("bitstamp", json("{}", 500));
  for (let i = 0; i < 3; ++i) {
    provider.clock.now += 1;
    await provider.ask();
    const logged = provider.logs.filter(({ source }) => source === "bitstamp");
    expect(logged).toMatchObject([{ level: 40, reason: "http_status" }]);
  }
  expect(await metrics()).toMatchObject({ 'provider_source_back_offs_total{source="bitstamp"}': 1 });
});
