import type { HistoryAnswer } from "@dataset-oracle/protocol/http-schemas/history";
import type { Problem } from "@dataset-oracle/protocol/http-schemas/problem";
import { type Address, stringToHex } from "viem";
import { beforeAll, expect, test } from "vitest";
import { type Chain, startChain } from "../../../../test/support/chain.js";
import { type RunningOperator, startOperator } from "../../../../test/support/operator.js";
import { type RpcProxy, startRpcProxy } from "../../../../test/support/rpc-proxy.js";
import { type Provider, startProviders } from "../../../../test/support/stub-providers.js";

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

function ask(more: Record<string, string>, { base } = operator) {
  const query = new URLSearchParams({ network_id: "42", dataset, key: KEY, ...more });
  return fetch(`${base}/history?${query}`, { signal: AbortSignal.timeout(20_000) });
}

beforeAll(async () => {
  [chain, providers] = await Promise.all([startChain(42), startProviders(4)]);
  dataset = await chain.deploy(providers.map(({ address }) => address));
  proxy = await startRpcProxy(chain.url);
  const settings = { historyBlocks: 600 };
  const served = { chain, datasets: [dataset], providers, settings, rpcUrls: [proxy.url] };
  let aheadMs = 0;
  operator = await startOperator([served], { clock: () => Date.now() + aheadMs });
  for (let i = 0; i < 3; i++) {
    const body = { network_id: 42, dataset, key: KEY, broadcast: true };
    const { timestamp, transaction_hash } = await operator.ask(body, { prefer: "wait=10" });
    const hash = transaction_hash as `0x${string}`;
    const block = Number((await chain.client.getTransactionReceipt({ hash })).blockNumber);
    sent.push({ timestamp, transaction_hash: hash, block });
    await operator.ask({ ...body, key: OTHER });
    await chain.client.increaseTime({ seconds: 2 });
    aheadMs += 2_000;
  }
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

test("takes a range of rounds, and tells the value that held when it began", async () => {
  const [first, second, third] = sent;
  const from_time = String(second?.timestamp);
  const since = await history({ from_time });
  expect(hashes(since)).toEqual([third?.transaction_hash, second?.transaction_hash]);
  expect(since).toMatchObject({ before: { transaction_hash: first?.transaction_hash }, from: first?.block });
  expect(await history({ to_time: from_time })).not.toHaveProperty("before");
  expect(hashes(await history({ to_time: from_time }))).toEqual(newestFirst().slice(1));
  expect(await history({ from_time: "0", to_time: String(Number(first?.timestamp) - 1) })).toMatchObject({
    updates: [],
    before: null,
  });
});

test("refuses more blocks than one request may search, and names the limit", async () => {
  await chain.client.mine({ blocks: 700 });
  const response = await ask({ from: "0" });
  expect(response.status).toBe(422);
  const problem = (await response.json()) as Problem;
  expect(problem).toMatchObject({ code: "range_too_wide", detail: expect.stringContaining("at most 600") });
  // The answer to a query that was asked a moment ago may be remembered.
  expect((await history({ limit: "17" })).from).toBeGreaterThan(0);
});

test.each<[string, Record<string, string>, number, string]>([
  ["a block that is not a number", { from: "-1" }, 400, "invalid_query"],
  ["a block with leading zeros", { from: "01" }, 400, "invalid_query"],
  ["a limit in another notation", { limit: "1e1" }, 400, "invalid_query"],
  ["a limit above 999", { limit: "1000" }, 400, "invalid_query"],
  ["a network above what a number holds", { network_id: "9007199254740992" }, 400, "invalid_query"],
  ["a range that ends before it begins", { from: "9", to: "8" }, 400, "invalid_query"],
  ["a time that ends before it begins", { from_time: "9", to_time: "8" }, 400, "invalid_query"],
  ["another dataset", { dataset: "0x0000000000000000000000000000000000000001" }, 404, "unknown_dataset"],
  ["a key of another form", { key: "nonsense" }, 422, "invalid_key"],
])("refuses %s", async (_, more, status, code) => {
  const response = await ask(more);
  const problem = (await response.json()) as Problem & { errors?: readonly { readonly property: string }[] };
  expect([response.status, problem.code]).toEqual([status, code]);
  if (code === "invalid_query") expect(problem.errors?.map(({ property }) => property)).toEqual([Object.keys(more)[0]]);
});

test("an RPC failure is reported as one", async () => {
  proxy.faults.set("eth_getLogs", "HTTP 500");
  await chain.client.mine({ blocks: 1 });
  const response = await ask({ limit: "3" });
  proxy.faults.clear();
  expect([response.status, ((await response.json()) as Problem).code]).toEqual([502, "rpc_failed"]);
});
