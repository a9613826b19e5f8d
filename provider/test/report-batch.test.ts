import { type BatchReport, recoverBatchReporter } from "@dataset-oracle/protocol/batch-report";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import type { BatchReportRequest, SignedBatchReport } from "@dataset-oracle/protocol/http-schemas/reports";
import { ZERO_VALUE } from "@dataset-oracle/protocol/report";
import { type Address, type Hex, hexToBigInt } from "viem";
import { describe, expect, it } from "vitest";
import { coinbaseTicker, json } from "./support/fake-exchanges.js";
import { ACCOUNT, DATASET, ETH_USD, START, wireValue } from "./support/test-provider.js";
import { useExchangesAndProvider } from "./support/use-exchanges-and-provider.js";

const BTC_USD = spotPriceKey("BTC-USD");
const KEYS = [ETH_USD, BTC_USD];

const quoted = useExchangesAndProvider("100", "100", "100");

const askRow = (change: Partial<BatchReportRequest> = {}) => quoted.provider.askRow({ keys: KEYS, ...change });

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
  quoted.exchanges.behave("coinbase", (response, url) =>
    pair.test(url) ? response.destroy() : json(coinbaseTicker("100"))(response, url),
  );
  quoted.exchanges.behave("bitstamp", json("{}", 500));
}

describe("a row of a batch", () => {
  it("has the values of its keys, in their order, and one signature that recovers to the provider", async () => {
    const { status, body } = await askRow({ keys: [BTC_USD, ETH_USD] });
    expect(status).toBe(200);
    expect(body).toEqual({
      network_id: 42,
      dataset: DATASET,
      keys: [BTC_USD, ETH_USD],
      timestamp: quoted.provider.clock.now,
      provider: ACCOUNT.address,
      missing: ZERO_VALUE,
      values: [e18(100n), e18(100n)],
      signature: expect.stringMatching(/^0x[0-9a-f]{130}$/),
    });
    expect(await recoverBatchReporter(rowOf(body), body.signature)).toBe(ACCOUNT.address);
  });

  it("has one bit for each key without data, and 0 in its place", async () => {
    failFor(/btc/i);
    const { body } = await askRow();
    expect(body).toMatchObject({ missing: wireValue(0b10n), values: [e18(100n), ZERO_VALUE] });
    expect(await recoverBatchReporter(rowOf(body), body.signature)).toBe(ACCOUNT.address);
  });
});

describe("rows and reports of one round", () => {
  const report = async (key: Hex) => (await quoted.provider.ask({ key })).body;

  it("say the same: a row repeats a report", async () => {
    const eth = await report(ETH_USD);
    quoted.exchanges.quote("200", "200", "200");
    quoted.provider.clock.now += 1;
    const { body } = await askRow({ timestamp: eth.timestamp });
    expect(body.values).toEqual([eth.value, e18(200n)]);
  });

  it("say the same: a report repeats a row, and so does another row", async () => {
    const round = quoted.provider.clock.now;
    failFor(/btc/i);
    const row = (await askRow()).body;
    quoted.exchanges.quote("200", "200", "200");
    quoted.provider.clock.now += 1;
    const eth = (await quoted.provider.ask({ key: ETH_USD, timestamp: round })).body;
    const btc = (await quoted.provider.ask({ key: BTC_USD, timestamp: round })).body;
    expect(eth).toMatchObject({ outcome: "OK", value: row.values[0] });
    expect(btc).toMatchObject({ outcome: "NOT_AVAILABLE", value: ZERO_VALUE });
    const turned = (await askRow({ keys: [BTC_USD, ETH_USD], timestamp: round })).body;
    expect(turned).toMatchObject({ missing: wireValue(0b01n), values: [ZERO_VALUE, row.values[0]] });
  });
});

describe("a row is refused, unsigned, for", () => {
  const LONG_KEYS = Array.from({ length: 256 }, (_, i) => `0x${i.toString(16).padStart(512, "0")}` as Hex);
  it.each<[what: string, change: Partial<BatchReportRequest>, status: number, code: string]>([
    ["no key", { keys: [] }, 400, "invalid_body"],
    ["the same key twice", { keys: [ETH_USD, ETH_USD] }, 400, "invalid_body"],
    ["a key in upper case", { keys: [ETH_USD.toUpperCase().replace("X", "x") as Hex] }, 400, "invalid_body"],
    ["257 keys", { keys: Array.from({ length: 257 }, (_, i) => spotPriceKey(`T${i}-USD`)) }, 400, "invalid_body"],
    ["another property", { key: ETH_USD } as object, 400, "invalid_body"],
    ["a network that is not served", { network_id: 7 }, 422, "unknown_network"],
    ["a dataset that is not served", { dataset: ACCOUNT.address }, 404, "unknown_dataset"],
    ["one key that is not served", { keys: [ETH_USD, spotPriceKey("NOSUCH-USD")] }, 422, "unknown_key"],
    ["256 of the longest keys, which are of another form", { keys: LONG_KEYS }, 422, "invalid_key"],
    ["a round before the window", { timestamp: START + 994 }, 422, "round_too_old"],
    ["a round after the window", { timestamp: START + 1_003 }, 422, "round_in_future"],
    ["a body of more than 144 KiB", { keys: [`0x${"00".repeat(80 * 1024)}`] }, 413, "body_too_large"],
  ])("%s", async (_, change, status, code) => {
    expect(await askRow(change)).toMatchObject({ status, body: { code } });
    expect(quoted.exchanges.requests).toEqual([]);
    expect(quoted.provider.logs.some(({ msg }) => msg === "row signed")).toBe(false);
  });

  it("keys whose sources are at their rate limit: they are named, and nothing is decided for the others", async () => {
    quoted.exchanges.behave("coinbase", (response, url) =>
      /BTC/.test(url) ? json("{}", 429)(response, url) : json(coinbaseTicker("100"))(response, url),
    );
    quoted.exchanges.behave("kraken", (response) => void response.writeHead(429).end());
    const { status, body } = await askRow();
    expect(status).toBe(503);
    expect(body).toMatchObject({ code: "source_busy", keys: [BTC_USD] });
    quoted.exchanges.quote("200", "200", "200");
    quoted.provider.clock.now += 11;
    expect((await askRow()).body.values).toEqual([e18(200n), e18(200n)]);
  });
});
