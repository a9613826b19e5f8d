import type { HistoryAnswer, Problem } from "@dataset-oracle/protocol/wire";
import { type Address, stringToHex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Chain, startChain } from "./support/chain.js";
import { type RunningOperator, startOperator } from "./support/operator.js";
import { type Provider, startProviders } from "./support/providers.js";
import { type RpcProxy, startRpcProxy } from "./support/rpc-proxy.js";

const KEY = "SPOTPX/ETH-USD";
const OTHER = "SPOTPX/BTC-USD";

let chain: Chain;
let proxy: RpcProxy;
let providers: Provider[];
let operator: RunningOperator;
let dataset: Address;
/** The updates of KEY, the oldest first. */
const sent: { timestamp: number; transaction_hash: string; block: number }[] = [];

async function history(more: Record<string, string> = {}): Promise<HistoryAnswer> {
  const response = await ask(more);
  if (response.status !== 200) throw new Error(await response.text());
  return (await response.json()) as HistoryAnswer;
}

function ask(more: Record<string, string>) {
  const query = new URLSearchParams({ network_id: "42", dataset, key: KEY, ...more });
  return fetch(`${operator.base}/history?${query}`, { signal: AbortSignal.timeout(20_000) });
}

beforeAll(async () => {
  [chain, providers] = await Promise.all([startChain(42), startProviders(4)]);
  dataset = await chain.deploy(providers.map(({ address }) => address));
  proxy = await startRpcProxy(chain.url);
  const settings = { historyBlocks: 600 };
  operator = await startOperator([{ chain, datasets: [dataset], providers, settings, rpcUrls: [proxy.url] }]);
  for (let i = 0; i < 3; i++) {
    const body = { network_id: 42, dataset, key: KEY, broadcast: true };
    const { timestamp, transaction_hash } = await operator.ask(body, { prefer: "wait=10" });
    const hash = transaction_hash as `0x${string}`;
    const block = Number((await chain.client.getTransactionReceipt({ hash })).blockNumber);
    sent.push({ timestamp, transaction_hash: hash, block });
    await operator.ask({ ...body, key: OTHER }, { prefer: "wait=10" });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
});

afterAll(async () => {
  await operator?.close();
  await Promise.all([proxy?.close(), ...(providers?.map((provider) => provider.close()) ?? [])]);
  await chain?.close();
});

const hashes = ({ updates }: HistoryAnswer) => updates.map(({ transaction_hash }) => transaction_hash);
const newestFirst = () => sent.map(({ transaction_hash }) => transaction_hash).toReversed();

test("lists a key's updates, the newest first, and no other key's", async () => {
  const answer = await history();
  expect(answer).toMatchObject({ network_id: 42, dataset, key: KEY, key_hex: stringToHex(KEY), from: 0 });
  expect(hashes(answer)).toEqual(newestFirst());
  const [newest] = answer.updates;
  const last = sent.at(-1);
  expect(newest).toEqual({
    status: "OK",
    value: (2000n * 10n ** 18n + 1n).toString(),
    timestamp: last?.timestamp,
    block_number: last?.block,
    transaction_hash: last?.transaction_hash,
  });
  expect(await history({ key: stringToHex(KEY) })).toMatchObject({ updates: answer.updates });
});

test("continues from where an answer ended", async () => {
  const seen: string[] = [];
  let page = await history({ limit: "1" });
  while (page.updates.length > 0) {
    expect(page.updates).toHaveLength(1);
    seen.push(...hashes(page));
    page = await history({ limit: "1", to: String(page.from - 1) });
  }
  expect(seen).toEqual(newestFirst());
});

test("searches only the requested blocks", async () => {
  const block = String(sent[1]?.block);
  expect(hashes(await history({ from: block, to: block }))).toEqual([sent[1]?.transaction_hash]);
});

test("halves the range for a node that limits it, and finds the same updates", async () => {
  await chain.client.mine({ blocks: 500 });
  const unlimited = await history();
  proxy.maxLogBlocks = 40;
  proxy.calls.length = 0;
  const halved = await history();
  expect(hashes(halved)).toEqual(newestFirst());
  expect({ ...halved, to: 0 }).toEqual({ ...unlimited, to: 0 });
  expect(proxy.calls.filter(({ method }) => method === "eth_getLogs").length).toBeLessThan(40);
  proxy.maxLogBlocks = Number.POSITIVE_INFINITY;
});

test("refuses more blocks than one request may search, and names the limit", async () => {
  await chain.client.mine({ blocks: 200 });
  const response = await ask({ from: "0" });
  expect(response.status).toBe(422);
  const problem = (await response.json()) as Problem;
  expect(problem).toMatchObject({ code: "range_too_wide", detail: expect.stringContaining("at most 600") });
  expect((await history()).from).toBeGreaterThan(0);
});

test.each<[string, Record<string, string>, number, string]>([
  ["a block that is no number", { from: "-1" }, 400, "invalid_query"],
  ["a block with a fraction", { from: "1.5" }, 400, "invalid_query"],
  ["a block with leading zeros", { from: "01" }, 400, "invalid_query"],
  ["a limit in another notation", { limit: "1e1" }, 400, "invalid_query"],
  ["a limit above 999", { limit: "1000" }, 400, "invalid_query"],
  ["a network that is no number", { network_id: "42x" }, 400, "invalid_query"],
  ["a network above what a number holds", { network_id: "9007199254740992" }, 400, "invalid_query"],
  ["a parameter of no meaning", { colour: "red" }, 400, "invalid_query"],
  ["a limit of 0", { limit: "0" }, 400, "invalid_query"],
  ["a range that ends before it begins", { from: "9", to: "8" }, 400, "invalid_query"],
  ["another network", { network_id: "7" }, 422, "unknown_network"],
  ["another dataset", { dataset: "0x0000000000000000000000000000000000000001" }, 404, "unknown_dataset"],
  ["a key of another form", { key: "nonsense" }, 422, "invalid_key"],
])("refuses %s", async (_, more, status, code) => {
  const response = await ask(more);
  expect([response.status, ((await response.json()) as Problem).code]).toEqual([status, code]);
});

test("an RPC failure is reported as one", async () => {
  proxy.faults.set("eth_getLogs", "HTTP 500");
  const response = await ask({});
  proxy.faults.clear();
  expect([response.status, ((await response.json()) as Problem).code]).toEqual([502, "rpc_failed"]);
});
