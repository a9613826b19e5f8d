import type { Address, Hex } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { beforeAll, expect, test } from "vitest";
import { orderOf } from "../src/feeds/turn-schedule.js";
import { type Chain, startChain } from "./support/chain.js";
import { type RunningOperator, startOperator } from "./support/operator.js";
import { type Provider, startProviders } from "./support/stub-providers.js";

/** These tests run the four nodes of a committee on one chain. */

const KEYS = Array.from({ length: 5 }, (_, i) => `SPOTPX/K${i}-USD`);
const HEARTBEAT_SECONDS = 8;
const BEAT_SECONDS = 2;
/** An update begins when the stored round, 2 s in the past when it began, is this old: every second beat. */
const MIN_INTERVAL_SECONDS = 5;
/** Long enough for a leader on a busy machine, and shorter than the time between two updates. */
const STAGE_MS = 3_000;
const BLOCK_SECONDS = 1;
/** Nobody listens there. */
const NOWHERE = "http://127.0.0.1:9";

let chain: Chain;
let providers: Provider[];
let dataset: Address;
const accounts = Array.from({ length: 4 }, () => privateKeyToAccount(generatePrivateKey()));
const nodes = new Map<Address, RunningOperator>();

beforeAll(async () => {
  [chain, providers] = await Promise.all([startChain(42), startProviders(4)]);
  dataset = await chain.deploy(providers.map(({ address }) => address));
  await Promise.all(accounts.map((account) => start(account)));
});

async function start(account: PrivateKeyAccount, reachable = providers): Promise<void> {
  const feed = {
    dataset,
    keys: KEYS,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    deviationBps: 100,
    minIntervalSeconds: MIN_INTERVAL_SECONDS,
  };
  // They do not reach each other: the chain shows them what the others did.
  const peers = accounts.map(({ address }, i) => ({
    ...{ provider: providers[i]?.address ?? "0x", url: NOWHERE, submitter: address },
  }));
  const settings = { feeds: [feed], peers, beatSeconds: BEAT_SECONDS, stageMs: STAGE_MS, absentStageMs: 1_500 };
  nodes.set(
    account.address,
    await startOperator([{ chain, datasets: [dataset], providers: reachable, settings }], { account }),
  );
}

/** A mined transaction with updates. */
interface Sent {
  readonly keys: number;
  readonly round: bigint;
  readonly hash: Hex;
  readonly sender: Address;
  /** Seconds since 1970. */
  readonly minedAt: bigint;
}

async function transactions(): Promise<readonly Sent[]> {
  const updates = await chain.updates(dataset);
  const hashes = [...new Set(updates.map(({ transactionHash }) => transactionHash))];
  return Promise.all(
    hashes.map(async (hash) => {
      const { from, blockNumber } = await chain.client.getTransactionReceipt({ hash });
      const { timestamp } = await chain.client.getBlock({ blockNumber });
      const ofHash = updates.filter(({ transactionHash }) => transactionHash === hash);
      const sender = accounts.find(({ address }) => address.toLowerCase() === from)?.address ?? from;
      return { keys: ofHash.length, round: ofHash[0]?.timestamp ?? 0n, hash, sender, minedAt: timestamp };
    }),
  );
}

/** Waits for transactions beyond those so far, and returns them. */
async function nextSent(count: number): Promise<readonly Sent[]> {
  const before = new Set((await transactions()).map(({ hash }) => hash));
  const giveUpAt = Date.now() + 60_000;
  for (;;) {
    const sent = (await transactions()).filter(({ hash }) => !before.has(hash));
    if (sent.length >= count) return sent;
    if (Date.now() > giveUpAt) throw new Error(`${sent.length} of ${count} transactions`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

const leaderOf = (round: bigint) => {
  const order = orderOf(
    { dataset, chunk: 0, round },
    providers.map(({ address }) => address),
  );
  return accounts[providers.findIndex(({ address }) => address === order[0])]?.address;
};

async function failedOver(account: Address): Promise<number> {
  const metric = await nodes.get(account)?.registry.getSingleMetric("operator_failover_updates_total")?.get();
  return metric?.values[0]?.value ?? 0;
}

test("each round is sent once, by the node whose turn it is", async () => {
  // The first update of each key is a transaction of its own, with a turn of its own.
  await expect
    .poll(async () => new Set((await chain.updates(dataset)).map(({ keyHash }) => keyHash)).size, { timeout: 60_000 })
    .toBe(KEYS.length);
  await nextSent(1);
  const rounds = new Map<bigint, Sent[]>();
  while (rounds.size < 5) {
    const batches = (await nextSent(1)).filter(({ keys }) => keys > 1);
    for (const sent of batches) rounds.set(sent.round, [...(rounds.get(sent.round) ?? []), sent]);
  }
  for (const [round, sent] of rounds) {
    expect(round % BigInt(BEAT_SECONDS)).toBe(0n);
    expect(sent).toHaveLength(1);
  }
  const byLeaders = [...rounds].filter(([round, [sent]]) => sent?.sender === leaderOf(round));
  // On a busy machine a leader can be late for a stage. Chance alone makes four of five right in one of sixty runs.
  expect(byLeaders.length).toBeGreaterThanOrEqual(4);
});

test("a volunteer, and a node that reaches too few providers, send nothing", async () => {
  const volunteer = privateKeyToAccount(generatePrivateKey());
  await start(volunteer);
  const [cutOff] = accounts as [PrivateKeyAccount];
  await nodes.get(cutOff.address)?.close();
  const before = await chain.nonce(cutOff.address);
  await start(cutOff, providers.slice(0, 2));
  await nextSent(2);
  expect(await chain.nonce(volunteer.address)).toBe(0);
  expect(await chain.nonce(cutOff.address)).toBe(before);
  await nodes.get(volunteer.address)?.close();
});

test("while a node is down, the next in rank sends its rounds, within a stage for each that does not send", async () => {
  // The first still reaches too few providers, so that two do not send.
  const [, ...others] = accounts;
  const batches: Sent[] = [];
  let gone: PrivateKeyAccount | undefined;
  const isFailover = ({ round, sender }: Sent) => leaderOf(round) === gone?.address && sender !== gone?.address;
  while (gone === undefined || !batches.some(isFailover)) {
    batches.push(...(await nextSent(1)));
    const nextRound = (batches.at(-1)?.round ?? 0n) + 2n * BigInt(BEAT_SECONDS);
    gone ??= others.find(({ address }) => address === leaderOf(nextRound));
    if (gone !== undefined) await nodes.get(gone.address)?.close();
  }
  // On a busy machine, a node waits for up to another stage.
  const maxLate = (3 * STAGE_MS) / 1000 + 2 * BLOCK_SECONDS;
  for (const [i, { minedAt }] of batches.slice(1).entries()) {
    const age = Number(minedAt - (batches[i]?.round ?? 0n));
    expect(age).toBeLessThanOrEqual(HEARTBEAT_SECONDS + maxLate);
  }
  const failovers = await Promise.all(others.map(({ address }) => failedOver(address)));
  expect(failovers.reduce((a, b) => a + b)).toBeGreaterThan(0);
});

test("few updates come too late and are paid for in vain", async () => {
  for (const { address } of accounts) await nodes.get(address)?.close();
  const sent = (blockTag: "latest" | "pending") =>
    Promise.all(accounts.map(({ address }) => chain.client.getTransactionCount({ address, blockTag })));
  await expect.poll(async () => await sent("latest"), { timeout: 10_000 }).toEqual(await sent("pending"));
  const counts = await sent("latest");
  const stored = (await transactions()).length;
  const late = counts.reduce((a, b) => a + b) - stored;
  // On a busy machine a node can send just when the next one stops waiting for it.
  expect(late).toBeGreaterThanOrEqual(0);
  expect(late).toBeLessThanOrEqual(Math.max(1, Math.floor(stored / 10)));
});

test("nodes share requests too: a key that all of them are asked for is stored, and none fails", async () => {
  const key = "SPOTPX/ASKED-USD";
  const body = { network_id: 42, dataset, key, broadcast: true };
  const others = accounts.slice(1);
  await Promise.all(others.map((account) => start(account)));
  const answers = await Promise.all(others.map(({ address }) => nodes.get(address)?.ask(body, { prefer: "wait=20" })));
  const { updatedAt } = await chain.query(dataset, key);
  for (const answer of answers) {
    expect(answer?.status).toBe("OK");
    expect(BigInt(answer?.timestamp ?? 0)).toBeLessThanOrEqual(updatedAt);
  }
});
