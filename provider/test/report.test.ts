import { recoverReporter, reportDigest } from "@dataset-oracle/protocol/report";
import { describe, expect, it } from "vitest";
import { coinbaseTicker, json } from "./support/fake-exchanges.js";
import { ACCOUNT, DATASET, ETH_USD, reportOf, wireValue } from "./support/test-provider.js";
import { useExchangesAndProvider } from "./support/use-exchanges-and-provider.js";

const quoted = useExchangesAndProvider("5174.22", "5174.23", "5174.21");

describe("a signed report", () => {
  it("holds the exact median, and its signature recovers to the provider", async () => {
    const { status, body } = await quoted.provider.ask();
    expect(status).toBe(200);
    expect(body).toEqual({
      network_id: 42,
      dataset: DATASET,
      key: ETH_USD,
      timestamp: quoted.provider.clock.now,
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

  it("is for one chain: the same question for another chain is signed with another digest", async () => {
    const here = (await quoted.provider.ask({ network_id: 42 })).body;
    const there = (await quoted.provider.ask({ network_id: 43 })).body;
    expect(there.value).toBe(here.value);
    expect(there.signature).not.toBe(here.signature);
    expect(reportDigest(reportOf(there))).not.toBe(reportDigest(reportOf(here)));
    expect(await recoverReporter(reportOf(there), there.signature)).toBe(ACCOUNT.address);
    expect(await recoverReporter({ ...reportOf(there), chainId: 42 }, there.signature)).not.toBe(ACCOUNT.address);
  });

  it("is the same for a dataset's address in lower case, and has its checksum", async () => {
    const one = await quoted.provider.ask();
    const other = await quoted.provider.ask({ dataset: DATASET.toLowerCase() });
    expect(other.text).toBe(one.text);
  });

  it("is logged with its key and round, and without any key material", async () => {
    await quoted.provider.ask();
    expect(quoted.provider.logs).toContainEqual(
      expect.objectContaining({
        msg: "report signed",
        key: "SPOTPX/ETH-USD",
        round: quoted.provider.clock.now,
        outcome: "OK",
      }),
    );
    expect(JSON.stringify(quoted.provider.logs)).not.toContain("11".repeat(32));
  });

  it("is logged with what ties it to its request", async () => {
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    await quoted.provider.ask(
      {},
      { "x-request-id": "checkout-4711", traceparent: `00-${traceId}-b7ad6b7169203331-01` },
    );
    for (const msg of ["report signed", "request"]) {
      const line = { msg, request_id: "checkout-4711", trace_id: traceId };
      await expect.poll(() => quoted.provider.logs).toContainEqual(expect.objectContaining(line));
    }
  });
});

describe("a round", () => {
  /** Holds back coinbase's answers; calling what is in the list sends them. */
  function holdCoinbase(): readonly (() => void)[] {
    const held: (() => void)[] = [];
    quoted.exchanges.behave("coinbase", (response, url) => {
      held.push(() => json(coinbaseTicker("5174.22"))(response, url));
    });
    return held;
  }

  it("gives the same bytes when asked for again, although prices have moved", async () => {
    const round = quoted.provider.clock.now;
    const first = await quoted.provider.ask();
    quoted.exchanges.quote("6000", "6000", "6000");
    expect((await quoted.provider.ask()).text).toBe(first.text);
    quoted.provider.clock.now += 1;
    const next = await quoted.provider.ask();
    expect(next.body.value).toBe(wireValue(6_000n * 10n ** 18n));
    expect((await quoted.provider.ask({ timestamp: round })).text).toBe(first.text);
    // Ten minutes later, and with the clock set back.
    for (const seconds of [600, -2 * 86_400]) {
      quoted.provider.clock.now += seconds;
      expect((await quoted.provider.ask({ timestamp: round })).text).toBe(first.text);
    }
  });

  it("gives many requests at once the same bytes, with one request to each source", async () => {
    const held = holdCoinbase();
    const answers = Array.from({ length: 20 }, () => quoted.provider.ask());
    await expect.poll(() => held.length).toBe(1);
    for (const release of held) release();
    const texts = new Set((await Promise.all(answers)).map(({ text }) => text));
    expect(texts.size).toBe(1);
    expect(quoted.exchanges.requests).toHaveLength(3);
  });

  it("shares a request to a source with other rounds, and networks, that need the same url at the same time", async () => {
    const held = holdCoinbase();
    const { now } = quoted.provider.clock;
    const asks = [{ timestamp: now }, { timestamp: now - 1 }, { timestamp: now, network_id: 43 }];
    const before = quoted.provider.requests();
    const answers = asks.map((ask) => quoted.provider.ask(ask));
    await expect.poll(() => quoted.provider.requests() - before).toBe(3);
    await expect.poll(() => held.length).toBe(1);
    for (const release of held) release();
    const bodies = (await Promise.all(answers)).map(({ body }) => body);
    expect(new Set(bodies.map(({ signature }) => signature)).size).toBe(3);
    expect(quoted.exchanges.requests.filter((url) => url.startsWith("/coinbase"))).toHaveLength(1);
  });
});

it("outside of the window of rounds, nothing is read or signed", async () => {
  const { now } = quoted.provider.clock;
  for (const [timestamp, code] of [
    [now - 6, "round_too_old"],
    [now + 3, "round_in_future"],
  ] as const) {
    expect(await quoted.provider.ask({ timestamp })).toMatchObject({ status: 422, body: { code } });
  }
  expect(quoted.exchanges.requests).toEqual([]);
  expect((await quoted.provider.ask({ timestamp: now - 5 })).status).toBe(200);
});
