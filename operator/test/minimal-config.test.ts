import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { COMMITTEE_DIRECTORY, WEB_ORACLE_REGISTRY } from "@dataset-oracle/protocol/fixed-addresses";
import type { DataAnswer } from "@dataset-oracle/protocol/http-schemas/data-request";
import { encodeAnnouncement, signAnnouncement } from "@dataset-oracle/protocol/node-announcement";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import type { Address, Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeAll, describe, expect, test } from "vitest";
import { type Chain, OTHER_ACCOUNT, startChain } from "./support/chain.js";
import { startRpcProxy } from "./support/rpc-proxy.js";
import { spawnOperator } from "./support/spawn-operator.js";
import { type Provider, startProviders } from "./support/stub-providers.js";

/** These tests run an operator as its owner does: a process whose configuration has an RPC URL and a dataset's address. */

let chain: Chain;
let providers: Provider[];
let dataset: Address;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "bare-operator-"));
  [chain, providers] = await Promise.all([startChain(42), startProviders(4)]);
  dataset = await chain.deploy(providers.map(({ address }) => address));
});

function spawnBare(network: object, others: object = {}, args: string[] = [], env: Record<string, string> = {}) {
  const config = join(folder, "operator.json");
  writeFileSync(
    config,
    JSON.stringify({ metricsPort: 0, ...others, networks: [{ rpcUrls: [chain.url], ...network }] }),
  );
  return spawnOperator(["--config", config, ...args], env);
}

async function exitOf(network: object, ...args: string[]) {
  const { exited, output } = spawnBare(network, {}, args);
  return [await exited, output()];
}

async function announce({ account, url }: Provider): Promise<void> {
  const issuedAt = BigInt(Math.floor(Date.now() / 1000) - 60);
  const announcement = { provider: account.address, url, issuedAt };
  const signature = await signAnnouncement(account, { chainId: 42, address: COMMITTEE_DIRECTORY }, announcement);
  const data = encodeAnnouncement(announcement, signature);
  const call = { account: OTHER_ACCOUNT, to: COMMITTEE_DIRECTORY, data, gas: 300_000n };
  await chain.wait(await chain.client.sendTransaction(call));
}

test("a chain without the directory is named, and the contracts' code decides their addresses", async () => {
  expect(await exitOf({ datasets: [dataset] })).toEqual([
    2,
    expect.stringContaining("network 42: providers is empty, and there is no directory."),
  ]);
  // If one of these fails because the contract's code has changed, this is its new address.
  expect(await chain.deployAtFixedAddress("CommitteeDirectory")).toBe(COMMITTEE_DIRECTORY);
  expect(await chain.deployAtFixedAddress("WebOracleRegistry")).toBe(WEB_ORACLE_REGISTRY);
});

test.each([
  ["no contract", () => ({ datasets: [OTHER_ACCOUNT] }), `dataset ${OTHER_ACCOUNT} is not a contract.`],
  [
    "another contract",
    () => ({ datasets: [COMMITTEE_DIRECTORY] }),
    `dataset ${COMMITTEE_DIRECTORY} is another contract:`,
  ],
  ["no address", () => ({ datasets: ["0x12"] }), "datasets/0: "],
  ["the same twice", () => ({ datasets: [dataset, dataset] }), "datasets names 0x"],
  ["no dataset at all", () => ({}), "set either deployment (a file's path) or datasets (addresses)"],
  ["a deployment file too", () => ({ deployment: "42.json", datasets: [dataset] }), "set either deployment (a file's"],
  [
    "an RPC that does not answer",
    () => ({ datasets: [dataset], rpcUrls: ["http://127.0.0.1:1"] }),
    "networks/0: the chain id cannot be read: rpcUrls/0: eth_chainId",
  ],
  ["another network's id", () => ({ datasets: [dataset], networkId: 43 }), "Correct rpcUrls or networkId."],
  [
    "a feed's key of another form",
    () => ({
      datasets: [dataset],
      networkId: 42,
      feeds: [{ dataset, keys: ["ETH-USD"], heartbeatSeconds: 60, deviationBps: 50, minIntervalSeconds: 10 }],
    }),
    'feeds/0: key "ETH-USD" does not have this dataset\'s form',
  ],
])("a configuration with %s as its dataset is refused", async (_, network, problem) => {
  expect(await exitOf(network())).toEqual([2, expect.stringContaining(problem)]);
});

test("the check of a configuration that names its network needs no RPC", async () => {
  const unread = { datasets: [dataset], networkId: 42, rpcUrls: ["http://127.0.0.1:1"] };
  const valid = expect.stringContaining("is valid. Networks: 42.");
  expect(await exitOf(unread, "--check-config")).toEqual([0, valid]);
});

describe("with providers that are announced on chain, an operator serves", () => {
  /** The configuration that docs/Relaying.md shows, with the chain and the dataset of these tests. */
  const guide = readFileSync(join(ROOT, "docs", "Relaying.md"), "utf8");
  const shown = JSON.parse(/```json\n(\{[^`]*"datasets"[^`]*)```/.exec(guide)?.[1] ?? "").networks[0];

  beforeAll(async () => {
    for (const provider of providers) await announce(provider);
  });

  test.each([
    // The providers of these tests are on this machine.
    ["with only rpcUrls and datasets in its configuration", { allowLocalProviders: true }, "SPOTPX/ETH-USD"],
    ["as docs/Relaying.md shows it", shown, "SPOTPX/BTC-USD"],
  ])("%s", async (_, network, dataKey) => {
    const key = generatePrivateKey();
    const { address } = privateKeyToAccount(key);
    await chain.fund(address);
    const port = await freePort();
    const own = { ...network, rpcUrls: [chain.url], datasets: [dataset] };
    const bare = spawnBare(own, { port }, [], { OPERATOR_PRIVATE_KEY: key });

    await pollStatus(port, "/live", 200, bare.output);
    const response = await post(port, dataKey);
    const answer = (await response.json()) as DataAnswer;
    expect(answer.reports?.map(({ provider }) => provider)).toEqual(providers.map((provider) => provider.address));
    const { from } = await chain.client.getTransaction({ hash: answer.transaction_hash as Hex });
    expect(from).toBe(address.toLowerCase());
    const { status, updatedAt } = await chain.query(dataset, dataKey);
    expect([status, Number(updatedAt)]).toEqual(["OK", answer.timestamp]);
  });

  test("once its RPC answers, if it names the network", async () => {
    const proxy = await startRpcProxy(chain.url);
    proxy.faults.set("*", "HTTP 429");
    const key = generatePrivateKey();
    await chain.fund(privateKeyToAccount(key).address);
    const port = await freePort();
    const own = { rpcUrls: [proxy.url], datasets: [dataset], networkId: 42, allowLocalProviders: true };
    const bare = spawnBare(own, { port }, [], { OPERATOR_PRIVATE_KEY: key });
    await pollStatus(port, "/ready", 503, bare.output);
    const early = await post(port, "SPOTPX/XRP-USD");
    expect([early.status, early.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await early.json()).toMatchObject({ code: "not_ready" });
    proxy.faults.clear();
    await pollStatus(port, "/ready", 200, bare.output);
    expect((await post(port, "SPOTPX/XRP-USD")).status).toBe(200);
    expect((await chain.query(dataset, "SPOTPX/XRP-USD")).status).toBe("OK");
  });
});

/** Waits until an operator answers a path with a status. */
async function pollStatus(port: number, path: string, status: number, output: () => string): Promise<void> {
  const url = `http://127.0.0.1:${port}${path}`;
  const read = () => fetch(url, { signal: AbortSignal.timeout(5_000) }).then((answer) => answer.status, output);
  await expect.poll(read, { timeout: 30_000, interval: 250 }).toBe(status);
}

const post = (port: number, key: string) =>
  fetch(`http://127.0.0.1:${port}/data/request`, {
    method: "POST",
    headers: { "content-type": "application/json", prefer: "wait=20" },
    body: JSON.stringify({ network_id: 42, dataset, key, broadcast: true }),
    signal: AbortSignal.timeout(25_000),
  });
