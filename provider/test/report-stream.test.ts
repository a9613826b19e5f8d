import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import type { Problem } from "@dataset-oracle/protocol/http-schemas/problem";
import {
  MAX_STREAMED_REPORTS,
  type ReportStreamLine,
  type ReportStreamRequest,
} from "@dataset-oracle/protocol/http-schemas/reports";
import { describe, expect, it } from "vitest";
import { coinbaseTicker, json } from "./support/fake-exchanges.js";
import { ETH_USD, request, startProvider, type TestProvider } from "./support/test-provider.js";
import { useExchangesAndProvider } from "./support/use-exchanges-and-provider.js";

const BTC_USD = spotPriceKey("BTC-USD");
const UNKNOWN = spotPriceKey("NOSUCH-USD");
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

const quoted = useExchangesAndProvider("100", "100", "100");

type Asked = ReportStreamRequest["requests"][number];

function post(provider: TestProvider, requests: readonly object[]): Promise<Response> {
  return fetch(`${provider.url}/report/stream`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ requests }),
    signal: AbortSignal.timeout(30_000),
  });
}

/** Returns the lines of an answer, by their index. */
async function linesOf(response: Response): Promise<ReportStreamLine[]> {
  const lines: ReportStreamLine[] = (await response.text())
    .split("\n")
    .flatMap((line) => (line ? JSON.parse(line) : []));
  return lines.toSorted((a, b) => a.index - b.index);
}

const about = (provider: TestProvider, change: Partial<Asked> = {}): Asked => ({
  ...request(provider.clock.now),
  ...change,
});

describe("a stream of reports", () => {
  it("has for each request what a request of its own is answered with", async () => {
    const { provider } = quoted;
    const changes: Partial<Asked>[] = [
      {},
      { key: BTC_USD },
      { key: UNKNOWN },
      { key: "0x00" },
      { timestamp: provider.clock.now - 3_600 },
      { network_id: 7 },
      { dataset: `0x${"22".repeat(20)}` },
      { network_id: 43 },
    ];
    const response = await post(
      provider,
      changes.map((change) => about(provider, change)),
    );
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    const lines = await linesOf(response);
    const single = await Promise.all(changes.map((change) => provider.ask(change)));
    expect(lines).toEqual(single.map(({ status, body }, index) => ({ index, status, body })));
    expect(single.map(({ status }) => status)).toEqual([200, 200, 422, 422, 422, 422, 404, 200]);
  });

  it("has a report at once, while another waits for a source", async () => {
    const { provider, exchanges } = quoted;
    let release = () => {};
    exchanges.behave("coinbase", (response, url) => {
      const answer = () => json(coinbaseTicker("100"))(response, url);
      if (/BTC/.test(url)) release = answer;
      else answer();
    });
    const response = await post(provider, [about(provider, { key: BTC_USD }), about(provider)]);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const { value } = await reader.read();
    expect(JSON.parse(Buffer.from(value ?? []).toString())).toMatchObject({ index: 1, body: { key: ETH_USD } });
    release();
    const next = await reader.read();
    expect(JSON.parse(Buffer.from(next.value ?? []).toString())).toMatchObject({ index: 0, body: { key: BTC_USD } });
    expect((await reader.read()).done).toBe(true);
  });

  it("logs each report with the trace of its request", async () => {
    const { provider } = quoted;
    const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`;
    await linesOf(await post(provider, [about(provider, { key: BTC_USD, traceparent }), about(provider)]));
    const signed = provider.logs.filter(({ msg }) => msg === "report signed");
    expect(signed.map(({ key, trace_id }) => [key, trace_id === TRACE]).toSorted()).toEqual([
      ["SPOTPX/BTC-USD", true],
      ["SPOTPX/ETH-USD", false],
    ]);
  });

  it.each([
    ["no requests", () => []],
    ["more than 64", (provider: TestProvider) => Array(MAX_STREAMED_REPORTS + 1).fill(about(provider))],
    ["an unknown property", (provider: TestProvider) => [about(provider), { ...about(provider), more: 1 }]],
    ["a key that is no hex", (provider: TestProvider) => [{ ...about(provider), key: "SPOTPX/ETH-USD" }]],
  ])("is refused as a whole with %s", async (_, requests) => {
    const response = await post(quoted.provider, requests(quoted.provider));
    expect([response.status, ((await response.json()) as Problem).code]).toEqual([400, "invalid_body"]);
  });
});

describe.each([
  ["a caller", { requestsPerMinute: 3 }, "requests"],
  ["all anonymous callers together", { anonymousRequestsPerMinute: 3 }, "anonymous"],
])("the limit of %s", (_, settings, name) => {
  it("counts each report of a stream", async () => {
    const provider = await startProvider({ redirectedOrigins: quoted.exchanges.redirectedOrigins, ...settings });
    try {
      const response = await post(provider, Array(5).fill(about(provider)));
      const lines = await linesOf(response);
      expect(lines.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429]);
      expect(lines[4]?.body).toMatchObject({ code: "too_many_requests" });
      const items = response.headers.get("ratelimit")?.split(", ") ?? [];
      expect(items.filter((item) => item.startsWith(`"${name}";r=0;`))).toHaveLength(1);
      expect(items).toHaveLength(2);
      const next = await post(provider, [about(provider)]);
      expect([next.status, ((await next.json()) as Problem).code]).toEqual([429, "too_many_requests"]);
    } finally {
      await provider.close();
    }
  });
});
