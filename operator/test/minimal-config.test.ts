import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { COMMITTEE_DIRECTORY, WEB_ORACLE_REGISTRY } from "@dataset-oracle/protocol/fixed-addresses";
import type { DataAnswer } from "@dataset-oracle/protocol/http-schemas/data-request";
import { encodeAnnouncement, signAnnouncement } from "@dataset-oracle/protocol/node-announcement";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { type Address, type Hex, zeroAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { type Chain, OTHER_ACCOUNT, startChain } from "./support/chain.js";
import { findKeyByNodeRank } from "./support/find-key-by-node-rank.js";
import { type RunningOperator, startOperator } from "./support/operator.js";
import { spawnOperator } from "./support/spawn-operator.js";
import { type Provider, startProviders } from "./support/stub-providers.js";

/** These tests run a node as its owner does: a process whose configuration has an RPC url and the dataset's address. */

let chain: Chain;
let providers: Provider[];
let dataset: Address;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "bare-node-"));
  [chain, providers] = await Promise.all([startChain(42), startProviders(4)]);
  dataset = await chain.deploy(providers.map(({ address }) => address));
});
function spawnNode(network: object, others: object = {}, args: string[] = [], env: Record<string, string> = {}) {
  const config = join(folder, "node.json");
  writeFileSync(
    config,
    JSON.stringify({ metricsPort: 0, ...others, networks: [{ rpcUrls: [chain.url], ...network }] }),
  );
  return spawnOperator(["--config", config, ...args], env);
}

async function check(network: object) {
  const { exited, output } = spawnNode(network, {}, ["--check-config"]);
  return [await exited, output()];
}

async function announce({ account }: Provider, url: string, submitter: Address): Promise<void> {
  const issuedAt = BigInt(Math.floor(Date.now() / 1000) - 60);
  const announcement = { provider: account.address, url, submitter, issuedAt };
  const signature = await signAnnouncement(account, { chainId: 42, address: COMMITTEE_DIRECTORY }, announcement);
  const data = encodeAnnouncement(announcement, signature);
  const call = { account: OTHER_ACCOUNT, to: COMMITTEE_DIRECTORY, data, gas: 300_000n };
  await chain.wait(await chain.client.sendTransaction(call));
}

test("a chain without the directory is named, and the contracts' code decides their addresses", async () => {
  expect(await check({ datasets: [dataset] })).toEqual([
    2,
    expect.stringContaining("network 42: providers is empty, and there is no directory."),
  ]);
  // If one of these fails because the contract's code has changed, this is its new address.
  expect(await chain.deployAtFixedAddress("CommitteeDirectory")).toBe(COMMITTEE_DIRECTORY);
  expect(await chain.deployAtFixedAddress("WebOracleRegistry")).toBe(WEB_ORACLE_REGISTRY);
  expect(await check({ datasets: [dataset] })).toEqual([0, expect.stringContaining("is valid. Networks: 42.")]);
});

test.each([
  ["no contract", () => ({ datasets: [OTHER_ACCOUNT] }), "an entry of datasets, is not a contract."],
  ["another contract", () => ({ datasets: [COMMITTEE_DIRECTORY] }), "an entry of datasets, is another contract:"],
  ["no address", () => ({ datasets: ["0x12"] }), "datasets/0: "],
  ["the same twice", () => ({ datasets: [dataset, dataset] }), "datasets names 0x"],
  ["no dataset at all", () => ({}), "set either deployment (a file's path) or datasets (addresses)"],
  ["a deployment file too", () => ({ deployment: "42.json", datasets: [dataset] }), "set either deployment (a file's"],
  [
    "an RPC that does not answer",
    () => ({ datasets: [dataset], rpcUrls: ["http://127.0.0.1:1"] }),
    "rpcUrls/0: eth_chainId",
  ],
])("a configuration with %s as its dataset is refused", async (_, network, problem) => {
  expect(await check(network())).toEqual([2, expect.stringContaining(problem)]);
});

test("a node that is told an RPC url and the dataset's address serves broadcasts and takes its turns", async () => {
  const settings = { committeeDirectory: COMMITTEE_DIRECTORY, allowLocalNodes: true };
  const nodes = await Promise.all(
    [0, 1, 2].map(() => startOperator([{ chain, datasets: [dataset], providers, settings }])),
  );
  onTestFinished(async () => {
    await Promise.all(nodes.map((node) => node.close()));
  });
  const key = generatePrivateKey();
  const { address } = privateKeyToAccount(key);
  await chain.fund(address);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  for (const [i, node] of nodes.entries()) await announce(providers[i] as Provider, node.base, node.account.address);
  await announce(providers[3] as Provider, url, address);

  const guide = readFileSync(join(ROOT, "docs", "Relaying.md"), "utf8");
  const shown = JSON.parse(/```json\n(\{[^`]*"datasets"[^`]*)```/.exec(guide)?.[1] ?? "");
  const network = { ...shown.networks[0], rpcUrls: [chain.url], datasets: [dataset] };
  const bare = spawnNode(network, { ...shown, port }, [], { OPERATOR_PRIVATE_KEY: key });
  await expect.poll(() => bare.output(), { timeout: 30_000 }).toContain(`the node of ${providers[3]?.address}`);
  const [entry] = nodes as [RunningOperator];
  await expect.poll(() => entry.networks.get(42)?.nodes.all.length, { timeout: 30_000 }).toBe(4);

  /** Asks for a key whose turn is the bare node's, and returns the sender of the update. */
  async function senderFor(base: string, name: string): Promise<Address> {
    const key = findKeyByNodeRank(entry, dataset, ([first]) => first === address, name);
    const response = await fetch(`${base}/data/request`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ network_id: 42, dataset, key, broadcast: true }),
      signal: AbortSignal.timeout(25_000),
    });
    if (response.status !== 200) return zeroAddress;
    const { transaction_hash } = (await response.json()) as DataAnswer;
    return (await chain.client.getTransaction({ hash: transaction_hash as Hex })).from;
  }
  // The bare node asks the other nodes where the providers are, and a turn can end while it is asked for.
  const poll = { timeout: 60_000, interval: 500 };
  await expect.poll(() => senderFor(url, "A"), poll).toBe(address.toLowerCase());
  await expect.poll(() => senderFor(entry.base, "B"), poll).toBe(address.toLowerCase());
});
