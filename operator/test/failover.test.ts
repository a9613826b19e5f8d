import { type Address, keccak256, numberToHex, stringToHex } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rankedFor } from "../src/tx/senders.js";
import { type Chain, startChain } from "./support/chain.js";
import { type RunningOperator, startOperator } from "./support/operator.js";
import { type Provider, startProviders } from "./support/providers.js";

/** These tests run three nodes on one chain. */

const KEYS = Array.from({ length: 9 }, (_, i) => `SPOTPX/K${i}-USD`);
const HEARTBEAT_SECONDS = 4;
const STAGE_MS = 5_000;

let chain: Chain;
let providers: Provider[];
let dataset: Address;
const accounts = Array.from({ length: 3 }, () => privateKeyToAccount(generatePrivateKey()));
const peers = accounts.map(({ address }, i) => {
  // They do not reach each other: the chain shows them what the others did.
  return { provider: numberToHex(i + 1, { size: 20 }), url: "http://127.0.0.1:9", submitter: address };
});
const nodes = new Map<Address, RunningOperator>();

beforeAll(async () => {
  [chain, providers] = await Promise.all([startChain(42), startProviders(4)]);
  dataset = await chain.deploy(providers.map(({ address }) => address));
  for (const account of accounts) await start(account);
});

afterAll(async () => {
  for (const node of nodes.values()) await node.close();
  await Promise.all(providers?.map((provider) => provider.close()) ?? []);
  await chain?.close();
});

async function start(account: PrivateKeyAccount): Promise<void> {
  const feed = { dataset, keys: KEYS, heartbeatSeconds: HEARTBEAT_SECONDS, deviationBps: 100, minIntervalSeconds: 4 };
  const settings = {
    feeds: [feed],
    feedPollMs: 300,
    peers,
    stageMs: STAGE_MS,
  };
  const served = { chain, datasets: [dataset], providers, settings };
  nodes.set(account.address, await startOperator([served], { account }));
}

const ranksOf = (key: string) =>
  rankedFor(
    dataset,
    stringToHex(key),
    accounts.map(({ address }) => address),
  );

/** Returns the relayer of each update beyond the first `after`, once each key has `times` of them. */
async function updatesAfter(after: number, times: number): Promise<{ key: string; relayer: Address }[]> {
  const giveUpAt = Date.now() + 60_000;
  for (;;) {
    const updates = (await chain.updates(dataset)).slice(after);
    const relayed = await Promise.all(
      updates.map(async ({ keyHash, transactionHash: hash }) => {
        const key = KEYS.find((one) => keccak256(stringToHex(one)) === keyHash) ?? "unknown";
        return { key, relayer: (await chain.client.getTransactionReceipt({ hash })).from };
      }),
    );
    if (KEYS.every((key) => relayed.filter((one) => one.key === key).length >= times)) return withChecksums(relayed);
    if (Date.now() > giveUpAt) throw new Error(`Too few updates: ${JSON.stringify(relayed)}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

const withChecksums = (relayed: { key: string; relayer: Address }[]) =>
  relayed.map(({ key, relayer }) => ({
    key,
    relayer: accounts.find(({ address }) => address.toLowerCase() === relayer.toLowerCase())?.address ?? relayer,
  }));

async function failedOver(account: Address): Promise<number> {
  const metric = await nodes.get(account)?.registry.getSingleMetric("operator_failover_updates_total")?.get();
  return metric?.values[0]?.value ?? 0;
}

test("each key is updated by its leading node, and by the next in rank while the leader is down", async () => {
  expect(new Set(KEYS.map((key) => ranksOf(key)[0])).size).toBeGreaterThan(1);
  const together = await updatesAfter(0, 3);
  expect(together.filter(({ key, relayer }) => relayer !== ranksOf(key)[0])).toEqual([]);
  for (const { address } of accounts) expect(await failedOver(address)).toBe(0);

  const [gone] = ranksOf(KEYS[0] as string);
  const account = accounts.find(({ address }) => address === gone);
  if (account === undefined) throw new Error("It is one of the three.");
  await nodes.get(account.address)?.close();
  // The transactions that it had sent are still mined.
  const { address } = account;
  await expect
    .poll(async () => (await chain.nonce(address)) - (await chain.client.getTransactionCount({ address })), {
      timeout: 10_000,
    })
    .toBe(0);
  const before = (await chain.updates(dataset)).length;
  const without = await updatesAfter(before, 2);
  const nextRank = (key: string) => ranksOf(key).find((address) => address !== account.address);
  expect(without.filter(({ key, relayer }) => relayer !== nextRank(key))).toEqual([]);
  const orphaned = KEYS.filter((key) => ranksOf(key)[0] === account.address);
  const failovers = await Promise.all(
    accounts.filter((one) => one !== account).map(({ address }) => failedOver(address)),
  );
  expect(failovers.reduce((a, b) => a + b)).toBeGreaterThanOrEqual(orphaned.length * 2);

  await start(account);
  const back = (await chain.updates(dataset)).length;
  const again = await updatesAfter(back, 3);
  for (const key of KEYS) {
    const last = again.filter((one) => one.key === key).at(-1);
    expect(last?.relayer, key).toBe(ranksOf(key)[0]);
  }

  // No node has paid for an update that came too late.
  const hashes = new Set((await chain.updates(dataset)).map(({ transactionHash }) => transactionHash));
  const sent = await Promise.all(accounts.map(({ address }) => chain.client.getTransactionCount({ address })));
  expect(sent.reduce((a, b) => a + b)).toBe(hashes.size);
});

test("nodes share requests too: a key that all of them are asked for is stored, and none fails", async () => {
  const key = "SPOTPX/ASKED-USD";
  const body = { network_id: 42, dataset, key, broadcast: true };
  const answers = await Promise.all([...nodes.values()].map(({ ask }) => ask(body, { prefer: "wait=20" })));
  const { updatedAt } = await chain.query(dataset, key);
  for (const { status, timestamp } of answers) {
    expect(status).toBe("OK");
    expect(BigInt(timestamp)).toBeLessThanOrEqual(updatedAt);
  }
});

test("a volunteer, which the list does not name, sends nothing while the nodes do", async () => {
  const volunteer = privateKeyToAccount(generatePrivateKey());
  await start(volunteer);
  await updatesAfter((await chain.updates(dataset)).length, 2);
  expect(await chain.nonce(volunteer.address)).toBe(0);
});
