import { type Address, type Hex, keccak256, parseEther, stringToHex } from "viem";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Chain, startChain } from "../../../../test/support/chain.js";
import { type OperatorOptions, type RunningOperator, startOperator } from "../../../../test/support/operator.js";
import { startRpcProxy } from "../../../../test/support/rpc-proxy.js";
import { type Provider, startProviders } from "../../../../test/support/stub-providers.js";
import type { FeedSettings } from "../settings.js";

const KEYS = ["SPOTPX/ETH-USD", "SPOTPX/BTC-USD", "SPOTPX/SOL-USD"];
const NEVER = 31_536_000;

let chain: Chain;
let providers: Provider[];
let operator: RunningOperator | undefined;
let dataset: Address;

beforeEach(async () => {
  [chain, providers] = await Promise.all([startChain(42), startProviders(4)]);
  dataset = await chain.deploy(providers.map(({ address }) => address));
});

afterEach(async () => {
  await operator?.close();
  operator = undefined;
  await Promise.all(providers?.map((provider) => provider.close()) ?? []);
  await chain?.close();
});

const start = async (policy: Partial<FeedSettings>, settings: object = {}, options: OperatorOptions = {}) => {
  const feed = { dataset, keys: KEYS, heartbeatSeconds: NEVER, deviationBps: 100, minIntervalSeconds: 1, ...policy };
  operator = await startOperator(
    [{ chain, datasets: [dataset], providers, settings: { feeds: [feed], feedPollMs: 300, ...settings } }],
    options,
  );
  return operator;
};

const hashOf = (key: string) => keccak256(stringToHex(key));
const body = (key: string) => ({ network_id: 42, dataset, key, broadcast: true });

/**
 * Waits for events beyond the first `after`, and returns them. On a busy machine they can be more than `count` by then.
 */
async function updatesAfter(after: number, count: number) {
  const giveUpAt = Date.now() + 60_000;
  for (;;) {
    const updates = (await chain.updates(dataset)).slice(after);
    if (updates.length >= count) return updates;
    if (Date.now() > giveUpAt) throw new Error(`${updates.length} of ${count} updates:\n${operator?.log.join("")}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const sleep = (ms = 2_500) => new Promise((resolve) => setTimeout(resolve, ms));

test("feeds are stored without requests, and at their heartbeat all in one transaction", async () => {
  await start({ heartbeatSeconds: 12 }, { feedPollMs: 1_500 });
  const first = await updatesAfter(0, 3);
  expect(new Set(first.map(({ keyHash }) => keyHash))).toEqual(new Set(KEYS.map(hashOf)));

  const second = await updatesAfter(3, 3);
  expect(second.map(({ keyHash }) => keyHash)).toEqual(KEYS.map(hashOf));
  expect(new Set(second.map(({ transactionHash }) => transactionHash)).size).toBe(1);
  const [timestamp] = second.map((update) => update.timestamp ?? 0n);
  const [before] = first.map((update) => update.timestamp ?? 0n);
  expect(Number((timestamp ?? 0n) - (before ?? 0n))).toBeGreaterThanOrEqual(3);
  for (const key of KEYS) {
    expect(await chain.query(dataset, key)).toMatchObject({ status: "OK", value: parseEther("2000") + 1n });
  }
});

test("a feed whose value moves by the deviation threshold is updated alone and at once; a smaller move does nothing", async () => {
  await start({});
  await updatesAfter(0, 3);
  const key = KEYS[1] as string;
  const move = (value: string) => {
    for (const provider of providers) provider.values.set(stringToHex(key), parseEther(value));
  };
  move("2019");
  await sleep();
  expect(await chain.updates(dataset)).toHaveLength(3);
  move("2021");
  const [moved] = await updatesAfter(3, 1);
  expect(moved?.keyHash).toBe(hashOf(key));
  await sleep();
  expect(await chain.updates(dataset)).toHaveLength(4);
  expect(await chain.query(dataset, key)).toMatchObject({ value: parseEther("2021") });
});

test("a provider's values outside the tolerance are counted, and no other provider's", async () => {
  const [own, outlier] = providers as [Provider, Provider];
  outlier.value = parseEther("2100");
  const { registry } = await start({});
  const name = "operator_feed_outliers_total";
  const countOf = (provider: Provider, metrics: string) =>
    new RegExp(`^${name}\\{network="42",dataset="${dataset}",provider="${provider.address}"\\} (\\d+)$`, "m").exec(
      metrics,
    )?.[1];
  await expect.poll(async () => Number(countOf(outlier, await registry.metrics()))).toBeGreaterThanOrEqual(3);
  expect(countOf(own, await registry.metrics())).toBeUndefined();
});

test("a feed is not updated within its minimum interval, however its value moves", async () => {
  await start({ minIntervalSeconds: 3_600 });
  await updatesAfter(0, 3);
  // The operator has to see that they are stored.
  await sleep();
  const asked = () => providers.map(({ askedForRows, asked }) => askedForRows.length + asked.length);
  const before = asked();
  for (const provider of providers) provider.value *= 2n;
  await sleep();
  expect(await chain.updates(dataset)).toHaveLength(3);
  expect(asked()).toEqual(before);
});

test("the loss of data is stored once", async () => {
  await start({});
  await updatesAfter(0, 3);
  await sleep();
  for (const provider of providers) provider.behavior = "no data";
  const gone = await updatesAfter(3, 3);
  expect(new Set(gone.map(({ transactionHash }) => transactionHash)).size).toBe(1);
  for (const key of KEYS) expect((await chain.query(dataset, key)).status).toBe("NOT_AVAILABLE");
  const sent = operator?.log.map((line) => JSON.parse(line)).findLast(({ msg }) => msg === "batch sent");
  expect(sent).toMatchObject({ keys: KEYS.map((key) => stringToHex(key)) });
  await sleep();
  expect(await chain.updates(dataset)).toHaveLength(6);
});

test("feeds and requests have separate gas budgets", async () => {
  const { ask, log } = await start({}, { gasPerHourForFeeds: 0, gasPerHourForNewKeys: 400_000 });
  await expect.poll(() => log.join()).toContain("The feeds have used up gasPerHourForFeeds");
  await sleep();
  expect(await chain.updates(dataset)).toEqual([]);
  // A feed may be updating the same key at the same round.
  const answer = await ask(body(KEYS[0] as string), { prefer: "wait=10" });
  expect(await chain.query(dataset, KEYS[0] as string)).toMatchObject({ updatedAt: BigInt(answer.timestamp) });
  await operator?.close();

  const spent = await start({}, { gasPerHour: 0, gasPerHourForNewKeys: 0 });
  await updatesAfter(1, 2);
  expect((await spent.askForProblem(body("SPOTPX/ADA-USD"))).code).toBe("gas_budget_spent");
  expect(spent.log.join()).not.toContain("have used up gas");
});

test("a request shares a feed's update of the same round", async () => {
  const { ask } = await start({ heartbeatSeconds: 4 });
  await updatesAfter(0, 3);
  const updates = await updatesAfter(3, 3);
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, i) => delayed(i * 500, () => ask(body(KEYS[0] as string)))),
  );
  for (const { status, transaction_hash, timestamp } of answers) {
    expect(status).toBe("OK");
    expect(transaction_hash).toMatch(/^0x[0-9a-f]{64}$/);
    await chain.wait(transaction_hash as Hex);
    expect(timestamp).toBeGreaterThanOrEqual(Number(updates[0]?.timestamp));
  }
  // No round of a key is stored twice.
  const updatesOfKey = (await chain.updates(dataset)).filter(({ keyHash }) => keyHash === hashOf(KEYS[0] as string));
  expect(new Set(updatesOfKey.map(({ timestamp }) => timestamp)).size).toBe(updatesOfKey.length);
});

describe("when a batch fails", () => {
  const MANY = Array.from({ length: 12 }, (_, index) => `SPOTPX/K${index}-USD`);
  const WARN = 40;
  const asked = () => providers.reduce((sum, { asked, askedForRows }) => sum + asked.length + askedForRows.length, 0);
  const askedAlone = () =>
    providers.reduce((sum, { asked, askedForRows }) => {
      return sum + asked.length + askedForRows.filter(({ keys }) => keys.length === 1).length;
    }, 0);
  const lines = (at: number) => operator?.log.slice(at).map((line) => JSON.parse(line)) ?? [];
  /** Waits until the log has a line, and returns all lines since `at`. */
  async function until(at: number, isMeant: (line: Record<string, unknown>) => boolean) {
    const giveUpAt = Date.now() + 60_000;
    while (!lines(at).some(isMeant)) {
      if (Date.now() > giveUpAt) throw new Error(`no matching line among ${lines(at).length}`);
      await sleep(50);
    }
    return lines(at);
  }

  test("because no provider answers, its keys are not asked for one by one, and the log says it once", async () => {
    // With a shorter timeout, honest providers would also be late on a busy machine.
    await start({ keys: MANY, heartbeatSeconds: 4 }, { providerTimeoutMs: 1_500, feedPollMs: 100 });
    await updatesAfter(0, MANY.length);
    for (const provider of providers) provider.behavior = "hangs";
    const at = operator?.log.length ?? 0;
    await until(at, ({ code }) => code === "no_quorum");
    const before = asked();
    await until(at, ({ code, failures }) => code === "no_quorum" && Number(failures) >= 4);
    // Each attempt asks for one batch, or for one key of it. How many attempts there are depends on when they end.
    expect(asked() - before).toBeLessThan(MANY.length * providers.length);
    expect(lines(at).filter(({ code, level }) => code === "no_quorum" && level >= WARN)).toHaveLength(1);

    const stored = (await chain.updates(dataset)).length;
    for (const provider of providers) provider.behavior = "honest";
    await until(at, ({ msg }) => msg === "feed: works again");
    await updatesAfter(stored, MANY.length);
    expect(lines(at).filter(({ msg }) => msg === "feed: works again")).toMatchObject([{ dependency: "committee" }]);
  });

  test("because of one key that is not served, only that key is left out, and the log names it once", async () => {
    const [unserved = "", ...served] = MANY;
    await start({ keys: MANY, heartbeatSeconds: 4 }, { feedPollMs: 100 });
    await updatesAfter(0, MANY.length);
    for (const provider of providers) provider.unserved.add(stringToHex(unserved));
    const at = operator?.log.length ?? 0;
    await until(at, ({ code, ascii }) => code === "unknown_key" && ascii === unserved);
    await updatesAfter(MANY.length, served.length);
    const alone = askedAlone();
    const stored = (await chain.updates(dataset)).length;
    const next = await updatesAfter(stored, 2 * served.length);
    expect(next.some(({ keyHash }) => keyHash === hashOf(unserved))).toBe(false);
    expect(askedAlone()).toBe(alone);
    expect(lines(at).filter(({ level, ascii }) => level >= WARN && ascii !== undefined)).toHaveLength(1);
  });
});

test("a mined batch is read back with one call, however many keys it has, and its transaction is not searched for", async () => {
  const proxy = await startRpcProxy(chain.url);
  const feed = { dataset, keys: KEYS, heartbeatSeconds: NEVER, deviationBps: 100, minIntervalSeconds: 1 };
  const settings = { feeds: [feed], feedPollMs: 300 };
  operator = await startOperator([{ chain, datasets: [dataset], providers, rpcUrls: [proxy.url], settings }]);
  await updatesAfter(0, 3);
  await sleep();
  proxy.calls.length = 0;
  for (const provider of providers) provider.value = (provider.value * 11n) / 10n;
  const stored = await updatesAfter(3, 3);
  expect(new Set(stored.map(({ transactionHash }) => transactionHash)).size).toBe(1);
  const readBacks = () =>
    proxy.calls.filter(({ method, params: [, block, overrides] }) => {
      return method === "eth_call" && block === "pending" && overrides !== undefined;
    });
  await expect.poll(readBacks).toHaveLength(1);
  await sleep(1_000);
  expect(readBacks()).toHaveLength(1);
  const searches = proxy.calls.filter(({ method, params: [filter] }) => {
    return method === "eth_getLogs" && (filter as { topics?: unknown[] }).topics?.[1] !== undefined;
  });
  expect(searches).toEqual([]);
});

test("a batch sent by an earlier process is recovered, and replaced by its keys' newest round when it is stuck", async () => {
  const { account } = await start({});
  await updatesAfter(0, 3);
  await sleep();
  await chain.client.setIntervalMining({ interval: 0 });
  for (const provider of providers) provider.value = (provider.value * 11n) / 10n;
  const giveUpAt = Date.now() + 20_000;
  const isSent = async () => (await chain.nonce(account.address)) > 3;
  while (!(await isSent()) && Date.now() < giveUpAt) await sleep(100);
  expect(await isSent()).toBe(true);
  await operator?.close();
  // So that the next process asks for later rounds only.
  await sleep();

  const { log } = await start({}, { stuckSeconds: 1 }, { account });
  const said = (words: string) => log.find((line) => line.includes(`"${words}"`));
  while (!said("replaced") && Date.now() < giveUpAt) await sleep(100);
  const recovered = JSON.parse(said("recovered") ?? "{}");
  expect(recovered).toMatchObject({ nonce: 3 });
  const { transaction } = JSON.parse(said("replaced") ?? "{}");
  await chain.client.mine({ blocks: 1 });
  const stored = await updatesAfter(3, 3);
  expect(stored.map(({ keyHash }) => keyHash)).toEqual(KEYS.map(hashOf));
  for (const { transactionHash } of stored) expect(transactionHash).toBe(transaction);
});

async function delayed<T>(ms: number, run: () => Promise<T>): Promise<T> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  return run();
}
