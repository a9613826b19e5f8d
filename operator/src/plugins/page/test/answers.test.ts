import { QUERY_PRICE } from "@dataset-oracle/devnet/test-support/deploy-test-contracts";
import type { DataPointAnswer } from "@dataset-oracle/protocol/http-schemas/data";
import type { HistoryAnswer } from "@dataset-oracle/protocol/http-schemas/history";
import type { OverviewAnswer } from "@dataset-oracle/protocol/http-schemas/overview";
import type { Problem } from "@dataset-oracle/protocol/http-schemas/problem";
import { clockOf } from "@dataset-oracle/tools/clock-of";
import { type Address, concatHex, type Hex, hexToString, isAddressEqual, parseEther, stringToHex } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import { OWNER } from "../../../../test/support/chain.js";
import { startCommittee } from "../../../../test/support/committee.js";
import { startOperator } from "../../../../test/support/operator.js";
import { startRpcProxy } from "../../../../test/support/rpc-proxy.js";
import type { StubProvider } from "../../../../test/support/stub-providers.js";

const KEY = "SPOTPX/ETH-USD";
const FEED_KEYS = ["SPOTPX/BTC-USD", "SPOTPX/SOL-USD"];
/** There are more keys than one page shows. */
const MANY = Array.from({ length: 510 }, (_, i) => stringToHex(`SPOTPX/K${i}-USD`));

/** How far the chain and the operator are ahead of this machine's clock. */
let aheadMs = 0;

const { chain, providers, members, dataset } = await startCommittee(4);
const busy = await chain.deploy(members);
const proxy = await startRpcProxy(chain.url);
const feed = { dataset, keys: FEED_KEYS, heartbeatSeconds: 3_600, deviationBps: 10_000, minIntervalSeconds: 1 };
const deployed = { kind: "median", keyForm: "SPOT_PRICE" } as const;
const datasets = [
  { ...deployed, name: "prices", address: dataset, keys: [stringToHex(KEY)] },
  { ...deployed, name: "busy", address: busy, keys: MANY },
];
const settings = { feeds: [feed], feedPollMs: 300, historyBlocks: 600 };
const operator = await startOperator([{ chain, datasets, providers, settings, rpcUrls: [proxy.url] }], {
  plugins: ["feeds", "page"],
  clock: clockOf(() => Date.now() + aheadMs),
});

/** Asks for a path about a key of the dataset. */
const get = (path: string, query: Record<string, string> = {}) => {
  const parameters = new URLSearchParams({ network_id: "42", dataset, key: KEY, ...query });
  return fetch(`${operator.base}/${path}?${parameters}`);
};
async function read<T>(path: string, query?: Record<string, string>): Promise<T> {
  const response = await get(path, query);
  if (response.status !== 200) throw new Error(await response.text());
  return (await response.json()) as T;
}
const data = (key = KEY) => read<DataPointAnswer>("data", { key });
const broadcast = (key: string) =>
  operator.ask({ network_id: 42, dataset, key, broadcast: true }, { prefer: "wait=10" });

/** Lets more than a second pass, for which the operator keeps what it read. */
async function cacheExpired(): Promise<void> {
  await chain.client.increaseTime({ seconds: 2 });
  await chain.client.mine({ blocks: 1 });
  aheadMs += 2_000;
}

test("GET /datasets lists what is served", async () => {
  const response = await fetch(`${operator.base}/datasets`);
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
      variables: null,
      query_price: QUERY_PRICE.toString(),
      last_update: null,
      agreement: null,
      last_rounds: [],
    });
  });

  test("shows the stored value, which provider signed which value, which did not sign, and the spread", async () => {
    const [silent, ...signers] = providers as [StubProvider, ...StubProvider[]];
    silent.behavior = "hangs";
    const answer = await broadcast(KEY);
    silent.behavior = "honest";
    const point = await data();
    expect(point).toMatchObject({ status: "OK", value: answer.value, timestamp: answer.timestamp });
    const receipt = await chain.client.getTransactionReceipt({ hash: answer.transaction_hash as Hex });
    expect(point.last_update).toEqual({
      transaction_hash: answer.transaction_hash,
      block_number: Number(receipt.blockNumber),
      carrier: operator.account.address,
      reports: signers.map(({ address, value }) => ({ provider: address, outcome: "OK", value: value.toString() })),
      absentees: [silent.address],
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

  test("does not guess the signers of an update that another contract relayed", async () => {
    const key = "SPOTPX/RELAYED-USD";
    const { transaction } = await operator.ask({ network_id: 42, dataset, key, broadcast: false });
    // This contract passes its calldata on to the dataset.
    const passes = concatHex(["0x602780600b6000396000f3366000600037600060003660006000", "0x73", dataset, "0x5af100"]);
    const deployed = await chain.client.sendTransaction({ account: OWNER, data: passes });
    const to = (await chain.client.waitForTransactionReceipt({ hash: deployed })).contractAddress as Address;
    const call = { to, data: transaction?.data as Hex, gas: 1_000_000n };
    const hash = await chain.client.sendTransaction({ account: OWNER, ...call });
    await chain.wait(hash);
    const last_update = { transaction_hash: hash, carrier: OWNER, reports: null, spread: null };
    expect(await data(key)).toMatchObject({ status: "OK", last_update });
  });
});

describe("GET /overview", () => {
  const networks = async () => (await read<OverviewAnswer>("overview")).networks;

  test("has every dataset with its committee, price and data points, as on the chain", async () => {
    const statuses = () => Promise.all(FEED_KEYS.map(async (key) => (await chain.query(dataset, key)).status));
    await expect.poll(statuses).toEqual(["OK", "OK"]);
    await cacheExpired();
    const before = await chain.client.getBlock();
    const [network] = await networks();
    expect(network).toMatchObject({ network_id: 42, readable: true, simulated: false, broadcasts: true });
    expect(network?.head_timestamp).toBeGreaterThanOrEqual(Number(before.timestamp));
    const [prices] = network?.datasets ?? [];
    expect(prices).toMatchObject({
      ...{ dataset, name: "prices", kind: "median", key_form: "SPOT_PRICE", query_price: QUERY_PRICE.toString() },
      ...{ max_round_age: 300, tolerance_bps: 100, left_out: 0 },
      providers: providers.map(({ address, url }) => ({ address, url })),
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
    const [, one] = (await networks())[0]?.datasets ?? [];
    expect([one?.dataset, one?.points?.length, one?.left_out]).toEqual([busy, 500, 10]);
    const calls = proxy.calls.filter(({ method, params: [call] }) => {
      // Those of the feeds do not count.
      return method === "eth_call" && !isAddressEqual((call as { to: Address }).to, dataset);
    });
    // A few more are made where the answer takes so long that a price is read again.
    expect(calls.length).toBeLessThan(12);
  });

  test("shows a price that has changed", async () => {
    const prices = async () => (await networks())[0]?.datasets.map(({ query_price }) => query_price);
    await chain.setPrice(dataset, parseEther("0.5"));
    await expect.poll(prices).toEqual([parseEther("0.5").toString(), QUERY_PRICE.toString()]);
    expect((await data()).query_price).toBe(parseEther("0.5").toString());
  });

  test("has no values for a network that cannot be read, and is not an error", async () => {
    await cacheExpired();
    proxy.faults.set("eth_call", "HTTP 500");
    const [network] = await networks();
    proxy.faults.clear();
    const unread = { points: null, query_price: null, max_round_age: 300 };
    expect(network).toMatchObject({ readable: false, datasets: [unread, unread] });
    await expect.poll(async () => (await networks())[0]?.readable).toBe(true);
  });
});

describe("GET /history", () => {
  const key = "SPOTPX/PAST-USD";
  /** The updates of the key, the oldest first. */
  const sent: { timestamp: number; transaction_hash: string; block_number: number }[] = [];
  const history = (more: Record<string, string> = {}) => read<HistoryAnswer>("history", { key, ...more });

  beforeAll(async () => {
    for (let i = 0; i < 3; i++) {
      const { timestamp, transaction_hash } = await broadcast(key);
      const { blockNumber } = await chain.client.getTransactionReceipt({ hash: transaction_hash as Hex });
      sent.push({ timestamp, transaction_hash: transaction_hash as Hex, block_number: Number(blockNumber) });
      await cacheExpired();
    }
  });

  const hashes = ({ updates }: HistoryAnswer) => updates.map(({ transaction_hash }) => transaction_hash);
  const newestFirst = () => sent.map(({ transaction_hash }) => transaction_hash).toReversed();

  test("lists a key's updates, the newest first, and no other key's", async () => {
    const answer = await history();
    expect(answer).toMatchObject({ network_id: 42, dataset, key, key_hex: stringToHex(key), from: 0 });
    const value = (2000n * 10n ** 18n + 1n).toString();
    expect(answer.updates).toEqual(sent.toReversed().map((update) => ({ status: "OK", value, ...update })));
    expect((await history({ key: stringToHex(key) })).updates).toEqual(answer.updates);
  });

  test("continues from where an answer ended", async () => {
    const seen: string[] = [];
    let answer = await history({ limit: "1" });
    while (answer.updates.length > 0) {
      expect(answer.updates).toHaveLength(1);
      seen.push(...hashes(answer));
      answer = await history({ limit: "1", to: String(answer.from - 1) });
    }
    expect(seen).toEqual(newestFirst());
  });

  test("takes a range of blocks or of rounds, and tells the value that held when the rounds began", async () => {
    const [first, second] = sent;
    const block = String(second?.block_number);
    expect(hashes(await history({ from: block, to: block }))).toEqual([second?.transaction_hash]);
    const from_time = String(second?.timestamp);
    const since = await history({ from_time });
    expect(hashes(since)).toEqual(newestFirst().slice(0, 2));
    expect(since).toMatchObject({
      before: { transaction_hash: first?.transaction_hash },
      from: first?.block_number,
    });
    const until = await history({ to_time: from_time });
    expect(hashes(until)).toEqual(newestFirst().slice(1));
    expect(until).not.toHaveProperty("before");
    const early = { from_time: "0", to_time: String(Number(first?.timestamp) - 1) };
    expect(await history(early)).toMatchObject({ updates: [], before: null });
  });

  test("refuses more blocks than one request may search, and names the limit", async () => {
    await chain.client.mine({ blocks: 700 });
    const response = await get("history", { from: "0" });
    const detail = expect.stringContaining("at most 600");
    expect([response.status, await response.json()]).toMatchObject([422, { code: "range_too_wide", detail }]);
    // The answer to a query that was asked a moment ago may be remembered.
    expect((await history({ limit: "17" })).from).toBeGreaterThan(0);
  });
});

test.each<[string, string, Record<string, string>, number, string]>([
  ["history", "a block that is not a number", { from: "-1" }, 400, "invalid_query"],
  ["history", "a limit above 999", { limit: "1000" }, 400, "invalid_query"],
  ["history", "a range that ends before it begins", { from: "9", to: "8" }, 400, "invalid_query"],
  ["data", "an empty key", { key: "0x" }, 400, "invalid_query"],
  ["data", "an unknown parameter", { colour: "red" }, 400, "invalid_query"],
  ["history", "another dataset", { dataset: "0x0000000000000000000000000000000000000001" }, 404, "unknown_dataset"],
  ["history", "a key of another form", { key: "nonsense" }, 422, "invalid_key"],
  ["data", "another network", { network_id: "7" }, 422, "unknown_network"],
])("GET /%s refuses %s", async (path, _, more, status, code) => {
  const response = await get(path, more);
  const problem = (await response.json()) as Problem & { errors?: readonly { readonly property: string }[] };
  expect([response.status, problem.code]).toEqual([status, code]);
  if (code === "invalid_query") expect(problem.errors?.map(({ property }) => property)).toEqual([Object.keys(more)[0]]);
});
