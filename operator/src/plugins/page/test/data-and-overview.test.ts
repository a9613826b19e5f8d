import { QUERY_PRICE } from "@dataset-oracle/devnet/deploy-test-contracts";
import type { DataPointAnswer } from "@dataset-oracle/protocol/http-schemas/data";
import type { OverviewAnswer } from "@dataset-oracle/protocol/http-schemas/overview";
import type { Problem } from "@dataset-oracle/protocol/http-schemas/problem";
import { type Address, concatHex, type Hex, hexToString, isAddressEqual, parseEther, stringToHex } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import { type Chain, OWNER, startChain } from "../../../../test/support/chain.js";
import { type RunningOperator, startOperator } from "../../../../test/support/operator.js";
import { type RpcProxy, startRpcProxy } from "../../../../test/support/rpc-proxy.js";
import { type Provider, startProviders } from "../../../../test/support/stub-providers.js";

const KEY = "SPOTPX/ETH-USD";
const FEED_KEYS = ["SPOTPX/BTC-USD", "SPOTPX/SOL-USD"];
/** There are more keys than one page shows. */
const MANY = Array.from({ length: 510 }, (_, i) => stringToHex(`SPOTPX/K${i}-USD`));

let chain: Chain;
let proxy: RpcProxy;
let providers: Provider[];
let operator: RunningOperator;
let dataset: Address;
let busy: Address;
/** How far the chain and the operator are ahead of this machine's clock. */
let aheadMs = 0;

beforeAll(async () => {
  [chain, providers] = await Promise.all([startChain(42), startProviders(4)]);
  const members = providers.map(({ address }) => address);
  dataset = await chain.deploy(members);
  busy = await chain.deploy(members);
  proxy = await startRpcProxy(chain.url);
  const feed = { dataset, keys: FEED_KEYS, heartbeatSeconds: 3_600, deviationBps: 10_000, minIntervalSeconds: 1 };
  const deployed = { kind: "median", keyForm: "SPOT_PRICE" } as const;
  operator = await startOperator(
    [
      {
        chain,
        datasets: [
          { ...deployed, name: "prices", address: dataset, keys: [stringToHex(KEY)] },
          { ...deployed, name: "busy", address: busy, keys: MANY },
        ],
        providers,
        settings: { feeds: [feed], feedPollMs: 300 },
        rpcUrls: [proxy.url],
      },
    ],
    { plugins: ["feeds", "page"], clock: () => Date.now() + aheadMs },
  );
});

const get = (path: string, query: Record<string, string> = {}) =>
  fetch(`${operator.base}/${path}?${new URLSearchParams(query)}`, { signal: AbortSignal.timeout(20_000) });

async function data(key = KEY): Promise<DataPointAnswer> {
  const response = await get("data", { network_id: "42", dataset, key });
  if (response.status !== 200) throw new Error(await response.text());
  return (await response.json()) as DataPointAnswer;
}

const overview = async () => (await (await get("overview")).json()) as OverviewAnswer;
const broadcast = (key: string) =>
  operator.ask({ network_id: 42, dataset, key, broadcast: true }, { prefer: "wait=10" });
/** Lets more than a second pass, for which the operator keeps what it read. */
async function cacheExpired(): Promise<void> {
  await chain.client.increaseTime({ seconds: 2 });
  await chain.client.mine({ blocks: 1 });
  aheadMs += 2_000;
}

test("GET /datasets lists what is served", async () => {
  const response = await get("datasets");
  expect(response.status).toBe(200);
  const shared = {
    ...{ network_id: 42, kind: "median", query_price: QUERY_PRICE.toString() },
    providers: providers.map(({ address, url }) => ({ address, url })),
  };
  expect(await response.json()).toEqual([
    { ...shared, dataset, keys: [KEY] },
    { ...shared, dataset: busy, keys: MANY.map((key) => hexToString(key)) },
  ]);
});

describe("GET /data", () => {
  test("reports that a key was never stored", async () => {
    expect(await data("SPOTPX/NEVER-USD")).toEqual({
      network_id: 42,
      dataset,
      key: "SPOTPX/NEVER-USD",
      key_hex: stringToHex("SPOTPX/NEVER-USD"),
      status: "NOT_AVAILABLE",
      value: "0",
      timestamp: 0,
      deviation_bps: null,
      heartbeat_seconds: null,
      format: { title: null, type: "uint", decimals: 18, unit: null, sources: [] },
      query_price: QUERY_PRICE.toString(),
      last_update: null,
      agreement: null,
      last_rounds: [],
    });
  });

  test("shows the stored value, which provider signed which value, which did not sign, and the spread", async () => {
    const [silent] = providers;
    if (silent) silent.behavior = "hangs";
    const answer = await broadcast(KEY);
    if (silent) silent.behavior = "honest";
    const point = await data();
    expect(point).toMatchObject({ status: "OK", value: answer.value, timestamp: answer.timestamp });
    const receipt = await chain.client.getTransactionReceipt({ hash: answer.transaction_hash as Hex });
    expect(point.last_update).toEqual({
      transaction_hash: answer.transaction_hash,
      block_number: Number(receipt.blockNumber),
      carrier: operator.account.address,
      reports: providers.slice(1).map(({ address, value }) => {
        return { provider: address, outcome: "OK", value: value.toString() };
      }),
      absentees: [silent?.address],
      spread: "2",
    });
    expect((await data(stringToHex(KEY))).last_update).toEqual(point.last_update);
    expect(point.agreement).toEqual({
      rounds: 1,
      providers: providers.map((provider) => {
        const count = provider === silent ? 0 : 1;
        return { provider: provider.address, signed: count, agreed: count };
      }),
    });
  });

  test("shows the same for keys that a batch stored, and their heartbeat", async () => {
    const hashes = async () =>
      Promise.all(FEED_KEYS.map(async (key) => (await data(key)).last_update?.transaction_hash));
    await expect.poll(hashes, { timeout: 20_000 }).toEqual([expect.any(String), expect.any(String)]);
    // While the operator has not seen that a key's first transaction is mined, it updates the other one alone.
    const depths = () =>
      [...operator.networks.values()].flatMap(({ senders }) => senders.queues.map(({ depth }) => depth));
    await expect.poll(depths, { timeout: 20_000 }).toEqual([{ waiting: 0, sent: 0 }]);
    for (const provider of providers) {
      for (const key of FEED_KEYS) provider.values.set(stringToHex(key), parseEther("9000"));
    }
    const points = () => Promise.all(FEED_KEYS.map((key) => data(key)));
    await expect
      .poll(async () => (await points()).map(({ value }) => value), { timeout: 20_000 })
      .toEqual(FEED_KEYS.map(() => parseEther("9000").toString()));
    expect(new Set(await hashes()).size).toBe(1);
    for (const point of await points()) {
      expect(point).toMatchObject({ heartbeat_seconds: 3_600, deviation_bps: 10_000 });
      expect(point.last_update).toMatchObject({ spread: "0", carrier: operator.account.address });
      const reports = point.last_update?.reports ?? [];
      expect(reports.length).toBeGreaterThan(2);
      for (const { provider, value } of reports) {
        expect(providers.map(({ address }) => address)).toContain(provider);
        expect(value).toBe(parseEther("9000").toString());
      }
    }
  });

  test("shows that there is no data, and which providers signed that", async () => {
    const key = "SPOTPX/GONE-USD";
    for (const provider of providers) provider.behavior = "no data";
    await broadcast(key);
    for (const provider of providers) provider.behavior = "honest";
    const point = await data(key);
    expect(point).toMatchObject({ status: "NOT_AVAILABLE", value: "0", last_update: { spread: null } });
    expect(point.timestamp).toBeGreaterThan(0);
    for (const report of point.last_update?.reports ?? []) {
      expect(report).toMatchObject({ outcome: "NOT_AVAILABLE", value: "0" });
    }
    expect(point.last_update?.reports).toHaveLength(4);
  });

  test("does not guess the signers of an update that another contract relayed", async () => {
    const key = "SPOTPX/RELAYED-USD";
    const { transaction } = await operator.ask({ network_id: 42, dataset, key, broadcast: false });
    // This contract passes its calldata on to the dataset.
    const passes = concatHex(["0x602780600b6000396000f3366000600037600060003660006000", "0x73", dataset, "0x5af100"]);
    const deployed = await chain.client.sendTransaction({ account: OWNER, data: passes });
    const { contractAddress } = await chain.client.waitForTransactionReceipt({ hash: deployed });
    const hash = await chain.client.sendTransaction({
      account: OWNER,
      to: contractAddress as Address,
      data: transaction?.data as Hex,
      gas: 1_000_000n,
    });
    await chain.wait(hash);
    const { status, last_update } = await data(key);
    expect(status).toBe("OK");
    expect(last_update).toMatchObject({ transaction_hash: hash, carrier: OWNER, reports: null, spread: null });
  });

  test("is read once for concurrent requests", async () => {
    await broadcast(KEY);
    await cacheExpired();
    proxy.calls.length = 0;
    await Promise.all(Array.from({ length: 10 }, () => data()));
    expect(proxy.calls.filter(({ method }) => method === "eth_getTransactionByHash")).toHaveLength(1);
  });

  test("says what is wrong with each parameter, once", async () => {
    const response = await get("data", { network_id: "42", dataset, colour: "red" });
    const { code, detail } = (await response.json()) as Problem;
    expect([response.status, code]).toEqual([400, "invalid_query"]);
    expect(detail).toContain("key is missing.");
    expect(detail).toContain("colour is unknown; remove it.");
    expect(detail).not.toContain("in quotes");
  });

  test.each<[string, Record<string, string>, number, string]>([
    ["a dataset that is no address", { dataset: "0x12" }, 400, "invalid_query"],
    ["an empty key", { key: "0x" }, 400, "invalid_query"],
    ["another network", { network_id: "7" }, 422, "unknown_network"],
  ])("refuses %s", async (_, query, status, code) => {
    const response = await get("data", { network_id: "42", dataset, key: KEY, ...query });
    expect([response.status, ((await response.json()) as Problem).code]).toEqual([status, code]);
  });
});

describe("GET /overview", () => {
  /** Returns the overview's calls, without those of the feeds. */
  const overviewCalls = () =>
    proxy.calls.filter(({ method, params }) => method === "eth_call" && !isAddressEqual(to(params), dataset));
  const to = ([call]: unknown[]) => (call as { to: Address }).to;

  test("has every dataset with its committee, price and data points, as on the chain", async () => {
    await cacheExpired();
    const [askedAt, before] = [Date.now() + aheadMs, await chain.client.getBlock()];
    const { time, networks } = await overview();
    expect(time).toBeGreaterThan(askedAt / 1000 - 1);
    expect(time).toBeLessThanOrEqual((Date.now() + aheadMs) / 1000);
    expect(networks).toMatchObject([{ network_id: 42, readable: true, simulated: false, broadcasts: true }]);
    expect(networks[0]?.head_timestamp).toBeGreaterThanOrEqual(Number(before.timestamp));
    expect(networks[0]?.head_timestamp).toBeLessThanOrEqual(Number((await chain.client.getBlock()).timestamp));
    const [prices] = networks[0]?.datasets ?? [];
    expect(prices).toMatchObject({
      dataset,
      name: "prices",
      kind: "median",
      key_form: "SPOT_PRICE",
      query_price: QUERY_PRICE.toString(),
      max_round_age: 300,
      tolerance_bps: 100,
      providers: providers.map(({ address, url }) => ({ address, url })),
      left_out: 0,
    });
    expect(prices?.points?.map(({ key }) => key)).toEqual([KEY, ...FEED_KEYS]);
    for (const point of prices?.points ?? []) {
      const { value, updatedAt, status } = await chain.query(dataset, point.key ?? "");
      expect(point).toMatchObject({ value: value.toString(), timestamp: Number(updatedAt), status });
      expect(point.heartbeat_seconds).toBe(point.key === KEY ? null : 3_600);
    }
  });

  test("reads hundreds of keys with a few calls, and says how many it leaves out", async () => {
    await cacheExpired();
    proxy.calls.length = 0;
    const datasets = (await overview()).networks[0]?.datasets ?? [];
    const one = datasets.find((shown) => shown.dataset === busy);
    expect([one?.points?.length, one?.left_out]).toEqual([500, 10]);
    // A few more are made where the answer takes so long that a price is read again.
    expect(overviewCalls().length).toBeLessThan(12);
  });

  test("shows a price that has changed", async () => {
    const read = async () => (await overview()).networks[0]?.datasets.map(({ query_price }) => query_price);
    await chain.setPrice(dataset, parseEther("0.5"));
    await expect.poll(read).toEqual([parseEther("0.5").toString(), QUERY_PRICE.toString()]);
    expect((await data()).query_price).toBe(parseEther("0.5").toString());
    await chain.setPrice(dataset, QUERY_PRICE);
  });

  test("has no values for a network that cannot be read, and is not an error", async () => {
    await cacheExpired();
    proxy.faults.set("eth_call", "HTTP 500");
    const [network] = (await overview()).networks;
    proxy.faults.clear();
    expect(network?.readable).toBe(false);
    for (const shown of network?.datasets ?? []) {
      expect(shown).toMatchObject({ points: null, query_price: null, max_round_age: 300 });
    }
    await expect.poll(async () => (await overview()).networks[0]?.readable, { timeout: 10_000 }).toBe(true);
  });
});
