import { recoverReporter } from "@dataset-oracle/protocol/report";
import { describe, expect, test } from "vitest";
import { ACCOUNT, DATASET, ETH_USD, reportOf, wireValue } from "./support/test-provider.js";
import { useExchangesAndProvider } from "./support/use-exchanges-and-provider.js";

const { exchanges, provider } = await useExchangesAndProvider("5174.22", "5174.23", "5174.21");

describe("a signed report", () => {
  test("holds the exact median, and its signature recovers to the provider", async () => {
    const { status, body } = await provider.ask();
    expect(status).toBe(200);
    expect(body).toEqual({
      network_id: 42,
      dataset: DATASET,
      key: ETH_USD,
      timestamp: provider.clock.now,
      provider: ACCOUNT.address,
      outcome: "OK",
      // 5174220000000000131072 by way of a float.
      value: wireValue(5_174_220_000_000_000_000_000n),
      signature: expect.stringMatching(/^0x[0-9a-f]{130}$/),
      sources: [
        { name: "bitstamp", value: "5174210000000000000000", quote_time: 1_800_001_000, used: true, reason: null },
        { name: "coinbase", value: "5174220000000000000000", quote_time: 1_800_001_000, used: true, reason: null },
        { name: "kraken", value: "5174230000000000000000", quote_time: null, used: true, reason: null },
      ],
    });
    expect(await recoverReporter(reportOf(body), body.signature)).toBe(ACCOUNT.address);
  });

  test("is for one chain, and has the dataset's checksum", async () => {
    const { body } = await provider.ask({ network_id: 43, dataset: DATASET.toLowerCase() });
    expect(body).toMatchObject({ network_id: 43, dataset: DATASET });
    expect(await recoverReporter(reportOf(body), body.signature)).toBe(ACCOUNT.address);
    expect(await recoverReporter({ ...reportOf(body), chainId: 42 }, body.signature)).not.toBe(ACCOUNT.address);
  });

  test("is logged with what ties it to its request", async () => {
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    await provider.ask({}, { "x-request-id": "checkout-4711", traceparent: `00-${traceId}-b7ad6b7169203331-01` });
    for (const msg of ["report signed", "request"]) {
      const line = { msg, request_id: "checkout-4711", trace_id: traceId };
      await expect.poll(() => provider.logs).toContainEqual(expect.objectContaining(line));
    }
  });

  test("has the same bytes when its round is asked for again, although prices have moved", async () => {
    const round = provider.clock.now;
    const first = await provider.ask();
    exchanges.quote("6000", "6000", "6000");
    expect((await provider.ask()).text).toBe(first.text);
    provider.clock.now += 1;
    const next = await provider.ask();
    expect(next.body.value).toBe(wireValue(6_000n * 10n ** 18n));
    expect((await provider.ask({ timestamp: round })).text).toBe(first.text);
  });
});
