import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { metricsInTable, metricsOf } from "@dataset-oracle/devnet/metrics-table";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  bitstampTicker,
  coinbaseTicker,
  type FakeExchanges,
  json,
  startFakeExchanges,
} from "./support/fake-exchanges.js";
import { runProvider, spawnProvider, untilListening, writeConfig } from "./support/provider-process.js";
import { DATASET, ETH_USD, PRIVATE_KEY, startProvider, type TestProvider } from "./support/test-provider.js";

const ENV = { PROVIDER_PRIVATE_KEY: PRIVATE_KEY };

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
    const row = { network_id: 42, dataset: DATASET, keys: [ETH_USD], timestamp: provider.clock.now };
    for (let i = 0; i < 2; ++i) {
      await provider.ask();
      await fetch(`${provider.url}/report/batch`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(row),
      });
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

describe("a provider's process", () => {
  it("serves its metrics only on an address of their own, without its key", async () => {
    const provider = spawnProvider(["serve", "--config", writeConfig({}).config], ENV);
    const url = await untilListening(provider);
    await expect.poll(() => provider.printed.stdout).toContain("metrics for Prometheus");
    const metricsUrl = /metrics for Prometheus at (http:\/\/127\.0\.0\.1:\d+\/metrics)/.exec(
      provider.printed.stdout,
    )?.[1];
    const response = await fetch(metricsUrl as string);
    expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
    const text = await response.text();
    expect(text).toContain("process_cpu_seconds_total");
    expect(text).toMatch(/^provider_ready [01]$/m);
    expect(text).not.toContain(PRIVATE_KEY.slice(2));
    expect((await fetch(`${url}/metrics`)).status).toBe(404);
    expect((await fetch((metricsUrl as string).replace("/metrics", "/report"))).status).toBe(404);
    provider.child.kill("SIGTERM");
    expect((await provider.closed)[0]).toBe(0);
  });

  it("names the setting of the metrics port when that is in use, and ends with 2", async () => {
    const busy = createServer().listen(0, "127.0.0.1");
    await once(busy, "listening");
    const { port } = busy.address() as AddressInfo;
    const { code, stderr } = await runProvider(["serve", "--config", writeConfig({ metricsPort: port }).config], ENV);
    expect(stderr).toBe(
      `Port ${port} on 127.0.0.1 is in use. Stop the program that uses it, or choose another "metricsPort".\n`,
    );
    expect(code).toBe(2);
    busy.close();
  });
});
