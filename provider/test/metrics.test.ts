import { readFileSync } from "node:fs";
import { metricsInTable, metricsOf } from "@dataset-oracle/devnet/metrics-table";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  bitstampTicker,
  coinbaseTicker,
  type FakeExchanges,
  json,
  startFakeExchanges,
} from "./support/fake-exchanges.js";
import { startProvider, type TestProvider } from "./support/test-provider.js";

let exchanges: FakeExchanges;
beforeAll(async () => {
  exchanges = await startFakeExchanges();
});
afterAll(() => exchanges.close());
beforeEach(() => exchanges.quote("2000", "2002", "2001"));

describe("the metrics of a provider", () => {
  let provider: TestProvider;
  beforeEach(async () => {
    provider = await startProvider({ redirectedOrigins: exchanges.redirectedOrigins });
  });
  afterEach(() => provider.close());

  /** Reads a metric's value; undefined while it has none. */
  async function metric(name: string): Promise<number | undefined> {
    const line = (await provider.registry.metrics()).split("\n").find((text) => text.startsWith(`${name} `));
    return line === undefined ? undefined : Number(line.slice(name.length));
  }

  it("count requests by route and by outcome, and no name that a caller makes up", async () => {
    await provider.ask();
    await provider.ask();
    await provider.ask({ network_id: 7 });
    await provider.ask({ timestamp: provider.clock.now + 3 });
    await fetch(`${provider.url}/made-up-by-a-caller`);
    const count = (labels: string) => metric(`http_request_duration_seconds_count{${labels}}`);
    expect(await count('method="POST",route="/report",outcome="ok"')).toBe(2);
    expect(await count('method="POST",route="/report",outcome="unknown_network"')).toBe(1);
    expect(await count('method="POST",route="/report",outcome="round_in_future"')).toBe(1);
    expect(await count('method="none",route="none",outcome="no_such_path"')).toBe(1);
    expect(await provider.registry.metrics()).not.toContain("made-up");
  });

  it("are those that the README lists, with their types and labels", () => {
    const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
    expect(metricsOf(provider.registry)).toEqual(metricsInTable(readme));
  });

  it("tell of each source how long it took, and what became of its prices", async () => {
    exchanges.behave("kraken", json("{}", 503));
    exchanges.behave("bitstamp", json(bitstampTicker("9000", ["ETH-USD"], provider.clock.now)));
    exchanges.behave("coinbase", json(coinbaseTicker("2000", provider.clock.now - 7)));
    await provider.ask();
    const requests = (source: string, outcome: string) =>
      metric(`provider_source_request_duration_seconds_count{source="${source}",outcome="${outcome}"}`);
    expect(await requests("coinbase", "ok")).toBe(1);
    expect(await requests("kraken", "http_status")).toBe(1);
    const prices = (source: string, outcome: string) =>
      metric(`provider_source_prices_total{source="${source}",outcome="${outcome}"}`);
    expect(await prices("kraken", "http_status")).toBe(1);
    expect(await prices("coinbase", "used")).toBe(1);
    expect(await prices("bitstamp", "outlier")).toBe(1);
    expect(await metric('provider_source_quote_age_seconds_sum{source="coinbase"}')).toBe(7);
  });

  it("tell how far prices lie from the value", async () => {
    await provider.ask();
    const deviation = (source: string) => metric(`provider_source_deviation_ratio_sum{source="${source}"}`);
    expect(await deviation("coinbase")).toBeCloseTo(1 / 2001, 12);
    expect(await deviation("kraken")).toBeCloseTo(1 / 2001, 12);
    expect(await deviation("bitstamp")).toBe(0);
  });

  it("count what was decided, written and signed, once", async () => {
    for (let i = 0; i < 2; ++i) {
      await provider.ask();
      await provider.askRow();
    }
    provider.clock.now += 1;
    for (const exchange of ["coinbase", "kraken"] as const)
      exchanges.behave(exchange, (response) => response.destroy());
    await provider.ask();
    expect(await metric('provider_decisions_total{form="SPOT_PRICE",outcome="OK"}')).toBe(1);
    expect(await metric('provider_decisions_total{form="SPOT_PRICE",outcome="NOT_AVAILABLE"}')).toBe(1);
    expect(await metric('provider_reports_signed_total{outcome="OK"}')).toBe(1);
    expect(await metric('provider_reports_signed_total{outcome="NOT_AVAILABLE"}')).toBe(1);
    expect(await metric("provider_rows_signed_total")).toBe(1);
    // At the start, and for both rounds together.
    expect(await metric("provider_lease_write_duration_seconds_count")).toBe(2);
    expect(await metric("provider_remembered_decisions")).toBe(2);
  });

  it("tell whether it is ready", async () => {
    expect(await metric("provider_ready")).toBe(1);
    provider.clock.now -= 1_000;
    expect(await metric("provider_ready")).toBe(0);
  });
});
