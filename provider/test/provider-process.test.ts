import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { EXCHANGES, marketRedirects } from "@dataset-oracle/devnet/exchange-origins";
import { MARKET_PAIRS } from "@dataset-oracle/devnet/simulated-market/pairs";
import { type Market, startMarket } from "@dataset-oracle/devnet/simulated-market/server";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import type { ReportAnswer } from "@dataset-oracle/protocol/http-schemas/reports";
import { recoverReporter } from "@dataset-oracle/protocol/report";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type ProviderProcess,
  runProvider,
  spawnProvider,
  untilListening,
  writeConfig,
} from "./support/provider-process.js";
import { ACCOUNT, DATASET, PRIVATE_KEY, reportOf } from "./support/test-provider.js";

const ENV = { PROVIDER_PRIVATE_KEY: PRIVATE_KEY };
const KEYS = MARKET_PAIRS.map(({ pair }) => `SPOTPX/${pair}`);

let market: Market;
let provider: ProviderProcess;
let url: string;
beforeAll(async () => {
  market = await startMarket({ seed: 5 });
  const redirectedOrigins = marketRedirects(market.url);
  const { config } = writeConfig({ redirectedOrigins, excludedSources: [] }, 42, KEYS);
  provider = spawnProvider(["serve", "--config", config], ENV);
  url = await untilListening(provider);
});
afterAll(async () => {
  provider.child.kill("SIGKILL");
  await provider.closed;
  await market.close();
});

async function ask(pair: string): Promise<{ status: number; body: ReportAnswer }> {
  const body = {
    network_id: 42,
    dataset: DATASET,
    key: spotPriceKey(pair),
    timestamp: Math.floor(Date.now() / 1000) - 1,
  };
  const response = await fetch(`${url}/report`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  });
  return { status: response.status, body: (await response.json()) as ReportAnswer };
}

describe("the provider's process, with the simulated market", () => {
  it("signs nothing in its first seconds, then becomes ready", async () => {
    const isReady = async () => (await fetch(`${url}/ready`, { signal: AbortSignal.timeout(60_000) })).status;
    // For how long, and what it answers until then, is shown with a clock that stands still.
    expect(provider.printed.stdout).toContain("no new round up to");
    await expect.poll(isReady, { timeout: 60_000 }).toBe(200);
    expect((await ask("ETH-USD")).status).toBe(200);
  });

  it("reads every pair of the market from the shipped sources, as they are, and signs a price near the true one", async () => {
    for (const { pair, start } of MARKET_PAIRS) {
      const { body } = await ask(pair);
      expect(body.outcome, pair).toBe("OK");
      expect(
        body.sources?.every(({ used }: { used: boolean }) => used),
        pair,
      ).toBe(true);
      expect(await recoverReporter(reportOf(body), body.signature), pair).toBe(ACCOUNT.address);
      const price = Number(BigInt(body.value)) / 1e18;
      expect(Math.abs(price / Number(start) - 1), `${pair} ${price}`).toBeLessThan(0.05);
    }
  });

  it("says loudly, for each source, that its prices are not real", () => {
    const notes = provider.printed.stdout.split("\n").filter((line) => line.includes("DEVELOPMENT ONLY"));
    expect(notes).toHaveLength(EXCHANGES.length);
    expect(notes.every((line) => line.includes('"level":40'))).toBe(true);
  });

  it("GET /live is 200", async () => {
    const response = await fetch(`${url}/live`, { signal: AbortSignal.timeout(60_000) });
    expect([response.status, await response.json()]).toEqual([200, { status: "live" }]);
  });

  it("serves its metrics only on an address of their own", async () => {
    const metricsUrl = /metrics for Prometheus at (http:\/\/127\.0\.0\.1:\d+\/metrics)/.exec(
      provider.printed.stdout,
    )?.[1];
    const response = await fetch(metricsUrl as string);
    expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
    const text = await response.text();
    expect(text).toContain("process_cpu_seconds_total");
    expect(text).toMatch(/^provider_ready [01]$/m);
    expect((await fetch(`${url}/metrics`)).status).toBe(404);
    expect((await fetch((metricsUrl as string).replace("/metrics", "/report"))).status).toBe(404);
  });

  it("logs JSON without its key, and by which library it signs", () => {
    for (const line of provider.printed.stdout.trim().split("\n")) expect(() => JSON.parse(line)).not.toThrow();
    expect(provider.printed.stdout + provider.printed.stderr).not.toContain(PRIVATE_KEY.slice(2));
    expect(provider.printed.stdout).toMatch(
      /"signatures are made by (?:secp256k1 \(native\)|tiny-secp256k1 \(WebAssembly\))"/,
    );
  });

  it("ends cleanly on SIGTERM", async () => {
    provider.child.kill("SIGTERM");
    const [code] = await provider.closed;
    expect(code).toBe(0);
    expect(provider.printed.stderr).toBe("");
  });
});

it.each(["port", "metricsPort"])("a busy %s is a clear error, and ends with 2", async (setting) => {
  const busy = createServer().listen(0, "127.0.0.1");
  await once(busy, "listening");
  const { port } = busy.address() as AddressInfo;
  const { config } = writeConfig({ [setting]: port });
  const { code, stderr } = await runProvider(["serve", "--config", config], ENV);
  expect(stderr).toBe(
    `Port ${port} on 127.0.0.1 is in use. Stop the program that uses it, or choose another "${setting}".\n`,
  );
  expect(code).toBe(2);
  busy.close();
});
