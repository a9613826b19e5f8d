import { type Address, getAddress, type LocalAccount, parseGwei, stringToHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeAll, expect, test } from "vitest";
import { orderOf } from "../src/feeds/turn-schedule.js";
import { type Chain, startChain } from "./support/chain.js";
import { startOperator } from "./support/operator.js";
import { signedUpdate } from "./support/signed-update.js";
import { type StubNode, startStubNode } from "./support/stub-node.js";
import { type Provider, startProviders } from "./support/stub-providers.js";

/** These tests run one node. The tests speak for a second one, whose shared transactions never reach the first. */

const KEY = "SPOTPX/ETH-USD";

let chain: Chain;
let providers: Provider[];
let dataset: Address;
let second: StubNode;
/** The node's provider. It signs nothing. */
const outsider = privateKeyToAccount(generatePrivateKey()).address;

beforeAll(async () => {
  [chain, providers] = await Promise.all([startChain(42), startProviders(4)]);
  dataset = await chain.deploy(providers.map(({ address }) => address));
  second = await startStubNode(providers);
  await chain.fund(second.account.address);
  const sign = async (round: number) => {
    const { data } = await signedUpdate(dataset, stringToHex(KEY), BigInt(round), providers);
    const fees = { maxFeePerGas: parseGwei("20"), maxPriorityFeePerGas: 1n };
    return second.account.signTransaction({ chainId: 42, nonce: 0, to: dataset, data, gas: 500_000n, ...fees });
  };
  // A node waits half a second for an answer, which is too short to sign in on a busy machine.
  const now = Math.floor(Date.now() / 1_000);
  const rounds = Array.from({ length: 60 }, (_, i) => now - 5 + i);
  const signed = new Map(await Promise.all(rounds.map(async (round) => [round, await sign(round)] as const)));
  second.shows = async (round) => [signed.get(round) ?? (await sign(round))];
  const feed = { dataset, keys: [KEY], heartbeatSeconds: 3_600, deviationBps: 100, minIntervalSeconds: 3_600 };
  // The node's provider is not in the committee, so that the second node is before it in every round.
  const settings = { peers: peersOf(second.own), feeds: [feed], beatSeconds: 1 };
  await startOperator([{ chain, datasets: [dataset], providers, settings }], { account: second.own });
});

/** Lists a node of the outsider, and the second node. */
const peersOf = ({ address: submitter }: LocalAccount) =>
  second.peers.map((peer, i) => (i === 0 ? { ...peer, provider: outsider, submitter } : peer));

test("before a node sends a round, it asks the others for a transaction that it may have missed, and submits that", async () => {
  await expect.poll(async () => (await chain.updates(dataset)).length, { timeout: 60_000 }).toBe(1);
  const [stored] = await chain.updates(dataset);
  const { from } = await chain.client.getTransaction({ hash: stored?.transactionHash ?? "0x" });
  expect(getAddress(from)).toBe(second.account.address);
  expect(await chain.nonce(second.own.address)).toBe(0);
});

test("a leader asks nobody for what only it can have sent", async () => {
  // The outsider is a member here, and the others are a quorum. In each of the datasets, it leads every other round.
  const committee = [outsider, ...providers.map(({ address }) => address)];
  const inOrder = committee.toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
  const datasets: Address[] = [];
  while (datasets.length < 4) datasets.push(await chain.deploy(inOrder));
  const account = privateKeyToAccount(generatePrivateKey());
  const policy = { keys: [KEY], heartbeatSeconds: 2, deviationBps: 10_000, minIntervalSeconds: 1 };
  // Long stages, so that a leader on a slow machine does not think that others have waited for it.
  const stages = { stageMs: 4_000, absentStageMs: 4_000 };
  const feeds = datasets.map((each) => ({ dataset: each, ...policy }));
  const settings = { peers: peersOf(account), feeds, beatSeconds: 1, ...stages };
  const member = await startOperator([{ chain, datasets, providers, settings }], { account });
  const led = async () => {
    const updates = await Promise.all(datasets.map((each) => chain.updates(each)));
    return updates.flatMap((ofOne, i) =>
      ofOne.flatMap(({ timestamp: round = 0n }, index) => {
        // A feed's first update has a turn of its own.
        const turn = { dataset: datasets[i] as Address, chunk: index === 0 ? 1 << 16 : 0, round };
        const [leader] = orderOf(turn, [outsider, providers[1]?.address ?? "0x"]);
        return leader === outsider ? [`${turn.dataset} ${round}`] : [];
      }),
    );
  };
  await expect.poll(async () => (await led()).length, { timeout: 90_000 }).toBeGreaterThan(0);
  for (const turn of await led()) expect(second.asked).not.toContain(turn);
  await member.close();
});
