import { type BatchReport, recoverBatchReporter } from "@dataset-oracle/protocol/batch-report";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import type { BatchReportRequest, SignedBatchReport } from "@dataset-oracle/protocol/http-schemas/reports";
import { ZERO_VALUE } from "@dataset-oracle/protocol/report";
import { type Address, type Hex, hexToBigInt } from "viem";
import { describe, expect, test } from "vitest";
import { coinbaseTicker, json } from "./support/fake-exchanges.js";
import { ACCOUNT, DATASET, ETH_USD, START, wireValue } from "./support/test-provider.js";
import { useExchangesAndProvider } from "./support/use-exchanges-and-provider.js";

const BTC_USD = spotPriceKey("BTC-USD");
const KEYS = [ETH_USD, BTC_USD];

const { exchanges, provider } = await useExchangesAndProvider("100", "100", "100");

const askRow = (change: Partial<BatchReportRequest> = {}) => provider.askRow({ keys: KEYS, ...change });

const rowOf = (answer: SignedBatchReport): BatchReport => ({
  chainId: answer.network_id,
  dataset: answer.dataset as Address,
  keys: answer.keys as Hex[],
  round: BigInt(answer.timestamp),
  missing: hexToBigInt(answer.missing as Hex),
  values: answer.values as Hex[],
});

const e18 = (price: bigint) => wireValue(price * 10n ** 18n);

/** Leaves two sources for every pair, and only Kraken for pairs whose URL matches. */
function failFor(pair: RegExp) {
  exchanges.behave("coinbase", (response, url) =>
    pair.test(url) ? response.destroy() : json(coinbaseTicker("100"))(response, url),
  );
  exchanges.behave("bitstamp", json("{}", 500));
}

describe("a row of a batch", () => {
  test("has the values of its keys, in their order, and one signature that recovers to the provider", async () => {
    const { status, body } = await askRow({ keys: [BTC_USD, ETH_USD] });
    expect(status).toBe(200);
    expect(body).toEqual({
      network_id: 42,
      dataset: DATASET,
      keys: [BTC_USD, ETH_USD],
      timestamp: provider.clock.now,
      provider: ACCOUNT.address,
      missing: ZERO_VALUE,
      values: [e18(100n), e18(100n)],
      signature: expect.stringMatching(/^0x[0-9a-f]{130}$/),
    });
    expect(await recoverBatchReporter(rowOf(body), body.signature)).toBe(ACCOUNT.address);
  });

  test("has one bit for each key without data, and 0 in its place", async () => {
    failFor(/btc/i);
    const { body } = await askRow();
    expect(body).toMatchObject({ missing: wireValue(0b10n), values: [e18(100n), ZERO_VALUE] });
    expect(await recoverBatchReporter(rowOf(body), body.signature)).toBe(ACCOUNT.address);
  });
});

test("a row and reports of one round say the same, whichever is asked for first", async () => {
  const report = async (key: Hex, timestamp: number) => (await provider.ask({ key, timestamp })).body.value;
  const round = provider.clock.now;
  const eth = await report(ETH_USD, round);
  exchanges.quote("200", "200", "200");
  provider.clock.now += 1;
  const row = (await askRow({ timestamp: round })).body;
  expect(row.values).toEqual([eth, e18(200n)]);
  exchanges.quote("300", "300", "300");
  provider.clock.now += 1;
  expect(await report(BTC_USD, round)).toBe(e18(200n));
  const turned = (await askRow({ keys: [BTC_USD, ETH_USD], timestamp: round })).body;
  expect(turned.values).toEqual([e18(200n), eth]);
});

describe("a row is refused, unsigned, for", () => {
  const LONG_KEYS = Array.from({ length: 256 }, (_, i) => `0x${i.toString(16).padStart(512, "0")}` as Hex);
  test.each<[what: string, change: Partial<BatchReportRequest>, status: number, code: string]>([
    ["no key", { keys: [] }, 400, "invalid_body"],
    ["the same key twice", { keys: [ETH_USD, ETH_USD] }, 400, "invalid_body"],
    ["257 keys", { keys: Array.from({ length: 257 }, (_, i) => spotPriceKey(`T${i}-USD`)) }, 400, "invalid_body"],
    ["one key that is not served", { keys: [ETH_USD, spotPriceKey("NOSUCH-USD")] }, 422, "unknown_key"],
    ["256 of the longest keys, which are of another form", { keys: LONG_KEYS }, 422, "invalid_key"],
    ["a round before the window", { timestamp: START }, 422, "round_too_old"],
    ["a body of more than 144 KiB", { keys: [`0x${"00".repeat(80 * 1024)}`] }, 413, "body_too_large"],
  ])("%s", async (_, change, status, code) => {
    expect(await askRow(change)).toMatchObject({ status, body: { code } });
    expect(exchanges.requests).toEqual([]);
    expect(provider.logs.some(({ msg }) => msg === "row signed")).toBe(false);
  });
});
