import { clockOf } from "@dataset-oracle/tools/clock-of";
import { type Address, type Hex, keccak256, parseEther, stringToHex } from "viem";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startCommittee } from "../../../../test/support/committee.js";
import { type OperatorOptions, type RunningOperator, startOperator } from "../../../../test/support/operator.js";
import type { FeedSettings } from "../settings.js";

const KEYS = ["SPOTPX/ETH-USD", "SPOTPX/BTC-USD", "SPOTPX/SOL-USD"];
const NEVER = 31_536_000;

const { chain, providers, members } = await startCommittee(4);
let operator: RunningOperator | undefined;
let dataset: Address;
/** How far the chain and the operator are ahead of this machine's clock. */
let aheadMs = 0;

beforeEach(async () => {
  for (const provider of providers) {
    Object.assign(provider, { behavior: "honest", value: parseEther("2000") });
    provider.values.clear();
  }
  dataset = await chain.deploy(members);
});

afterEach(async () => {
  await operator?.close();
  await chain.client.setIntervalMining({ interval: 1 });
});

/** Starts an operator whose feeds are updated only when their value moves by 1%, unless a policy says otherwise. */
const start = async (policy: Partial<FeedSettings>, settings: object = {}, options: OperatorOptions = {}) => {
  const feed = { dataset, keys: KEYS, heartbeatSeconds: NEVER, deviationBps: 100, minIntervalSeconds: 1, ...policy };
  const served = { chain, datasets: [dataset], providers };
  // A first update begins that much before the end of the heartbeat.
  const soon = { providerTimeoutMs: 3_000 };
  operator = await startOperator([{ ...served, settings: { feeds: [feed], feedPollMs: 300, ...soon, ...settings } }], {
    clock: clockOf(() => Date.now() + aheadMs),
    ...options,
  });
  return operator;
};

/** Lets time pass, on the chain and for the operator, at once. */
async function pass(seconds: number): Promise<void> {
  await chain.client.increaseTime({ seconds });
  await chain.client.mine({ blocks: 1 });
  aheadMs += seconds * 1_000;
}

const hashOf = (key: string) => keccak256(stringToHex(key));
const body = (key: string) => ({ network_id: 42, dataset, key, broadcast: true });

/** Waits for events beyond the first `after`, and returns them. */
async function updatesAfter(after: number, count: number) {
  const updates = async () => (await chain.updates(dataset)).slice(after);
  await expect.poll(async () => (await updates()).length).toBeGreaterThanOrEqual(count);
  return updates();
}

/** Waits until the operator has seen that all that it sent is mined: until then it updates the other feeds without these. */
async function idle(): Promise<void> {
  const depths = () =>
    [...(operator?.networks.values() ?? [])].flatMap(({ senders }) => senders.queues.map(({ depth }) => depth));
  await expect.poll(depths).toEqual([{ waiting: 0, sent: 0 }]);
}

const transactionsOf = (updates: readonly { readonly transactionHash: Hex | null }[]) =>
  new Set(updates.map(({ transactionHash }) => transactionHash));

test("feeds are stored without a request, together at their heartbeat, and each when it moves or is no longer available", async () => {
  await start({ heartbeatSeconds: 600 });
  const first = await updatesAfter(0, 3);
  expect(new Set(first.map(({ keyHash }) => keyHash))).toEqual(new Set(KEYS.map(hashOf)));

  await idle();
  await pass(595);
  const second = await updatesAfter(3, 3);
  expect(second.map(({ keyHash }) => keyHash)).toEqual(KEYS.map(hashOf));
  expect(transactionsOf(second).size).toBe(1);
  const stored = { status: "OK", value: parseEther("2000") };
  for (const key of KEYS) expect(await chain.query(dataset, key)).toMatchObject(stored);

  for (const provider of providers) provider.values.set(stringToHex(KEYS[1] as string), parseEther("2021"));
  const moved = await updatesAfter(6, 1);
  expect(moved.map(({ keyHash }) => keyHash)).toEqual([hashOf(KEYS[1] as string)]);

  for (const provider of providers) provider.behavior = "no data";
  await updatesAfter(7, 3);
  for (const key of KEYS) expect((await chain.query(dataset, key)).status).toBe("NOT_AVAILABLE");
});

test("requests and a feed that are about the same round share one transaction", async () => {
  const stoppedAt = Date.now() + aheadMs;
  await chain.client.setIntervalMining({ interval: 0 });
  const { ask, account } = await start({ keys: KEYS.slice(0, 1) }, {}, { clock: clockOf(() => stoppedAt) });
  await expect.poll(() => chain.nonce(account.address)).toBe(1);
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask(body(KEYS[0] as string))));
  expect(new Set(answers.map(({ transaction_hash }) => transaction_hash)).size).toBe(1);
  await chain.client.mine({ blocks: 1 });
  const updates = await updatesAfter(0, 1);
  expect(updates).toMatchObject([{ transactionHash: answers[0]?.transaction_hash }]);
  expect(await chain.nonce(account.address)).toBe(1);
});

test("a batch sent by an earlier process is recovered, and replaced by its keys' newest round when it is stuck", async () => {
  const { account, close } = await start({});
  await updatesAfter(0, 3);
  await idle();
  await pass(10);
  await chain.client.setIntervalMining({ interval: 0 });
  for (const provider of providers) provider.value = parseEther("2200");
  await expect.poll(() => chain.nonce(account.address)).toBe(4);
  await close();

  // The next process asks for later rounds only.
  aheadMs += 3_000;
  const { log } = await start({}, { stuckSeconds: 1 }, { account });
  const said = (words: string) => log.map((line) => JSON.parse(line)).find(({ msg }) => msg === words);
  await expect.poll(() => said("replaced")).toBeDefined();
  expect(said("recovered")).toMatchObject({ nonce: 3 });
  await chain.client.setNextBlockTimestamp({ timestamp: BigInt(Math.ceil((Date.now() + aheadMs) / 1_000)) });
  await chain.client.mine({ blocks: 1 });
  const stored = await updatesAfter(3, 3);
  expect(stored.map(({ keyHash }) => keyHash)).toEqual(KEYS.map(hashOf));
  expect(transactionsOf(stored)).toEqual(new Set([said("replaced").transaction]));
});
