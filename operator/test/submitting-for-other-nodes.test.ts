import { freePort } from "@dataset-oracle/devnet/free-ports";
import { type Address, getAddress, type Hex } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { beforeAll, expect, test } from "vitest";
import type { Node } from "../src/peers/node-list.js";
import { type Chain, startChain } from "./support/chain.js";
import { type RunningOperator, startOperator } from "./support/operator.js";
import { type RpcProxy, startRpcProxy } from "./support/rpc-proxy.js";
import { type Provider, startProviders } from "./support/stub-providers.js";

/**
 * Each test runs two nodes that reach each other. The first one's RPC endpoint takes transactions, and passes none on.
 */

const KEYS = ["SPOTPX/A-USD", "SPOTPX/B-USD"];

let chain: Chain;
let providers: Provider[];

beforeAll(async () => {
  [chain, providers] = await Promise.all([startChain(42), startProviders(4)]);
});

/** Prepares two nodes with two feeds, the first of which has an RPC endpoint that can be told to fail. */
async function twoNodes() {
  const dataset = await chain.deploy(providers.map(({ address }) => address));
  const proxy: RpcProxy = await startRpcProxy(chain.url);
  const accounts = [0, 1].map(() => privateKeyToAccount(generatePrivateKey()));
  const ports = await Promise.all(accounts.map(() => freePort()));
  const peers = accounts.map(({ address: submitter }, i): Node => {
    return { provider: providers[i]?.address ?? "0x", url: `http://127.0.0.1:${ports[i]}`, submitter };
  });
  const feed = { dataset, keys: KEYS, heartbeatSeconds: 8, deviationBps: 100, minIntervalSeconds: 5 };
  const settings = { feeds: [feed], peers, beatSeconds: 2, stageMs: 2_000, absentStageMs: 1_000, stuckSeconds: 5 };

  const start = (i: 0 | 1): Promise<RunningOperator> => {
    const served = { chain, datasets: [dataset], providers, settings, rpcUrls: [[proxy.url, chain.url][i] ?? ""] };
    return startOperator([served], { account: accounts[i] as PrivateKeyAccount, port: ports[i] ?? 0 });
  };
  /** Returns who sent each transaction that stored something, the oldest first. */
  const senders = async (): Promise<readonly Address[]> => {
    const updates = await chain.updates(dataset);
    const hashes = [...new Set(updates.map(({ transactionHash }) => transactionHash))];
    return Promise.all(hashes.map(async (hash: Hex) => getAddress((await chain.client.getTransaction({ hash })).from)));
  };
  return { proxy, submitters: accounts.map(({ address }) => address), start, senders };
}

async function submittedForOthers({ registry }: RunningOperator): Promise<number> {
  const counter = await registry.getSingleMetric("operator_submitted_for_others_total")?.get();
  return counter?.values[0]?.value ?? 0;
}

test("the next node in rank submits what the leader's RPC endpoint has swallowed", async () => {
  const { proxy, submitters, start, senders } = await twoNodes();
  const [, next] = [await start(0), await start(1)];
  await expect.poll(async () => (await senders()).length).toBeGreaterThanOrEqual(KEYS.length);
  proxy.faults.set("eth_sendRawTransaction", "swallows");
  const before = (await senders()).length;
  // A hash decides who leads a round: each of them leads one in two.
  const sent = async () => (await senders()).slice(before);
  await expect.poll(sent, { timeout: 90_000, interval: 500 }).toContain(submitters[0]);
  expect(await submittedForOthers(next)).toBeGreaterThan(0);
  for (const sender of await sent()) expect(submitters).toContain(sender);
});

test("a swallowed transaction that no other node has seen holds up none of its sender's later ones", async () => {
  const { proxy, submitters, start, senders } = await twoNodes();
  proxy.faults.set("eth_sendRawTransaction", "swallows");
  await start(0);
  const swallowed = () => proxy.calls.filter(({ method }) => method === "eth_sendRawTransaction").length;
  await expect.poll(swallowed).toBeGreaterThan(0);
  expect(await senders()).toEqual([]);
  const next = await start(1);
  await expect.poll(senders, { timeout: 90_000, interval: 500 }).toContain(submitters[0]);
  expect(await submittedForOthers(next)).toBeGreaterThan(0);
});
