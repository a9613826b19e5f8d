import { freePort } from "@dataset-oracle/devnet/ports";
import { type Address, getAddress, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeAll, expect, test } from "vitest";
import type { Node } from "../src/peers/node-list.js";
import { type Chain, startChain } from "./support/chain.js";
import { type RunningOperator, startOperator } from "./support/operator.js";
import { type Provider, startProviders } from "./support/providers.js";
import { type RpcProxy, startRpcProxy } from "./support/rpc-proxy.js";

/** These tests run two nodes that reach each other. The first one's RPC endpoint takes transactions, and passes none on. */

const KEYS = ["SPOTPX/A-USD", "SPOTPX/B-USD"];

let chain: Chain;
let providers: Provider[];
let dataset: Address;
let proxy: RpcProxy;
const accounts = [0, 1].map(() => privateKeyToAccount(generatePrivateKey()));
const nodes: RunningOperator[] = [];

beforeAll(async () => {
  [chain, providers] = await Promise.all([startChain(42), startProviders(4)]);
  dataset = await chain.deploy(providers.map(({ address }) => address));
  proxy = await startRpcProxy(chain.url);
  const ports = await Promise.all(accounts.map(() => freePort()));
  const peers = accounts.map(({ address: submitter }, i): Node => {
    return { provider: providers[i]?.address ?? "0x", url: `http://127.0.0.1:${ports[i]}`, submitter };
  });
  const feed = { dataset, keys: KEYS, heartbeatSeconds: 8, deviationBps: 100, minIntervalSeconds: 5 };
  const settings = { feeds: [feed], peers, beatSeconds: 2, stageMs: 2_000, absentStageMs: 1_000 };
  for (const [i, account] of accounts.entries()) {
    const rpcUrls = [i === 0 ? proxy.url : chain.url];
    const served = { chain, datasets: [dataset], providers, settings, rpcUrls };
    nodes.push(await startOperator([served], { account, port: ports[i] ?? 0 }));
  }
});

/** Returns who sent each transaction that stored something, the oldest first. */
async function senders(): Promise<readonly Address[]> {
  const updates = await chain.updates(dataset);
  const hashes = [...new Set(updates.map(({ transactionHash }) => transactionHash))];
  return Promise.all(hashes.map(async (hash: Hex) => getAddress((await chain.client.getTransaction({ hash })).from)));
}

test("the next node in rank submits what the leader's RPC endpoint has swallowed", async () => {
  const [leader, next] = accounts;
  await expect.poll(async () => (await chain.updates(dataset)).length).toBeGreaterThanOrEqual(KEYS.length);
  proxy.faults.set("eth_sendRawTransaction", "swallows");
  const before = (await senders()).length;
  // A hash decides who leads a round: each of them leads one in two.
  const sent = async () => (await senders()).slice(before);
  await expect.poll(sent, { timeout: 90_000, interval: 500 }).toContain(leader?.address);
  const submitted = await nodes[1]?.registry.getSingleMetric("operator_submitted_for_others_total")?.get();
  expect(submitted?.values[0]?.value).toBeGreaterThan(0);
  for (const sender of await sent()) expect([leader?.address, next?.address]).toContain(sender);
});
