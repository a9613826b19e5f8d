import { freePort } from "@dataset-oracle/devnet/free-ports";
import { committeeDirectoryAbi } from "@dataset-oracle/protocol/abi/committee-directory";
import { encodeAnnouncement, signAnnouncement } from "@dataset-oracle/protocol/node-announcement";
import Fastify, { type FastifyInstance } from "fastify";
import type { Address, Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import type { NetworkSettings } from "../src/config.js";
import { FORWARDED_PATH } from "../src/peers/forwarding.js";
import { type Chain, OTHER_ACCOUNT, startChain } from "./support/chain.js";
import { findKeyByNodeRank } from "./support/find-key-by-node-rank.js";
import { type RunningOperator, startOperator } from "./support/operator.js";
import { type Provider, startProviders } from "./support/stub-providers.js";

/** These tests run nodes that know nothing but the chain and the address of the directory. */

let chain: Chain;
let providers: Provider[];
let dataset: Address;
let directory: Address;
const accounts = Array.from({ length: 4 }, () => privateKeyToAccount(generatePrivateKey()));

beforeAll(async () => {
  [chain, providers] = await Promise.all([startChain(42), startProviders(4)]);
  dataset = await chain.deploy(providers.map(({ address }) => address));
  directory = await chain.deployContract("CommitteeDirectory", committeeDirectoryAbi, []);
});

/** Announcements are of different seconds, in the order in which the tests make them. */
let issuedAt = BigInt(Math.floor(Date.now() / 1000) - 3_600);

async function announce(account: Provider["account"], url: string, submitter: Address): Promise<void> {
  issuedAt += 1n;
  const announcement = { provider: account.address, url, submitter, issuedAt };
  const signature = await signAnnouncement(account, { chainId: 42, address: directory }, announcement);
  const data = encodeAnnouncement(announcement, signature);
  await chain.wait(await chain.client.sendTransaction({ account: OTHER_ACCOUNT, to: directory, data, gas: 300_000n }));
}
const announceNode = (i: number, url: string, submitter = accounts[i]?.address) =>
  announce((providers[i] as Provider).account, url, submitter ?? "0x");

/** @param known The providers in its configuration. */
async function start(
  i: number,
  settings: Partial<NetworkSettings> = {},
  port = 0,
  known: readonly Provider[] = providers,
): Promise<RunningOperator> {
  const network = { committeeDirectory: directory, allowLocalNodes: true, reorgDepth: 100, ...settings };
  const served = { chain, datasets: [dataset], providers: known, settings: network };
  const operator = await startOperator([served], { account: accounts[i] as (typeof accounts)[0], port });
  onTestFinished(() => operator.close());
  return operator;
}

const nodesOf = (operator: RunningOperator) => operator.networks.get(42)?.nodes;
const urlsOf = (operator: RunningOperator) => nodesOf(operator)?.all.map(({ url }) => url) ?? [];
const until = (operator: RunningOperator, urls: readonly string[]) =>
  expect.poll(() => urlsOf(operator).toSorted(), { timeout: 30_000 }).toEqual(urls.toSorted());

/** A server at the place of a node, and the paths at which it was asked. */
async function startPretender(): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const server: FastifyInstance = Fastify({ forceCloseConnections: true });
  server.post("/*", async ({ url }, reply) => {
    asked.push(url);
    return reply.status(503).send({});
  });
  onTestFinished(() => server.close());
  return { url: await server.listen({ host: "127.0.0.1", port: 0 }), asked };
}

/** Finds a key whose turn is that of another node than `own`. */
const keyOfOther = (operator: RunningOperator, own: number) =>
  findKeyByNodeRank(operator, dataset, ([first]) => first !== undefined && first !== accounts[own]?.address, "D");

test("nodes that are announced while they run find each other, recognize each other, and forward", async () => {
  const ports = await Promise.all([freePort(), freePort()]);
  const [one, two] = await Promise.all([start(0, {}, ports[0]), start(1, {}, ports[1])]);
  expect(nodesOf(one)).toMatchObject({ all: [], own: null });
  await announceNode(0, `${one.base}/`);
  await announceNode(1, two.base);
  for (const node of [one, two]) await until(node, [one.base, two.base]);
  expect(nodesOf(one)?.own).toEqual({
    provider: providers[0]?.address,
    url: one.base,
    submitter: accounts[0]?.address,
  });
  // The turn can change with the minute while it is asked for.
  await expect
    .poll(
      async () => {
        const request = { network_id: 42, dataset, key: keyOfOther(one, 0), broadcast: true };
        const { transaction_hash } = await one.ask(request);
        return (await chain.client.getTransaction({ hash: transaction_hash as Hex })).from;
      },
      { timeout: 30_000 },
    )
    .toBe(accounts[1]?.address.toLowerCase());
});

test("only members' announcements count, the last of each; one that withdraws has no node", async () => {
  const stranger = privateKeyToAccount(generatePrivateKey());
  await announceNode(0, "https://zero.example");
  await announceNode(1, "javascript:alert(1)//");
  await announceNode(2, "https://old.example");
  await announceNode(2, "https://two.example");
  await announceNode(3, "https://three.example");
  await announce(stranger, "https://stranger.example", accounts[0]?.address ?? "0x");
  const peers = [
    { provider: providers[1]?.address ?? "", url: "https://configured.example", submitter: OTHER_ACCOUNT },
    { provider: stranger.address, url: "https://kept.example", submitter: stranger.address },
  ];
  const volunteer = await start(1, { peers });
  await until(volunteer, [
    "https://kept.example",
    "https://three.example",
    "https://two.example",
    "https://zero.example",
  ]);
  expect(nodesOf(volunteer)?.own).toBeNull();
  await announceNode(3, "");
  await until(volunteer, ["https://kept.example", "https://two.example", "https://zero.example"]);
});

test("an announcement that a reorganization takes back no longer counts", async () => {
  await announceNode(2, "https://before.example");
  const node = await start(0);
  await expect.poll(() => urlsOf(node), { timeout: 30_000 }).toContain("https://before.example");
  const block = await chain.client.getBlockNumber({ cacheTime: 0 });
  await announceNode(2, "https://after.example");
  await expect.poll(() => urlsOf(node), { timeout: 30_000 }).toContain("https://after.example");
  // A block in between would be one too many to take back.
  await chain.client.setIntervalMining({ interval: 0 });
  const depth = Number((await chain.client.getBlockNumber({ cacheTime: 0 })) - block);
  await chain.client.request({ method: "anvil_reorg", params: [depth, []] } as never);
  await chain.client.setIntervalMining({ interval: 1 });
  await expect.poll(() => urlsOf(node), { timeout: 30_000 }).toContain("https://before.example");
});

test("an announced URL of this machine is asked on a development network only; a configured one always", async () => {
  const pretender = await startPretender();
  await announceNode(0, "https://zero.example");
  await announceNode(1, pretender.url);
  await announceNode(2, "");
  const strict = await start(0, { allowLocalNodes: false });
  const ask = (node: RunningOperator) =>
    node.ask({ network_id: 42, dataset, key: keyOfOther(node, 0), broadcast: true });
  expect((await ask(strict)).status).toBe("OK");
  expect(pretender.asked).toEqual([]);
  await strict.close();
  await ask(await start(0));
  expect(pretender.asked).toContain(FORWARDED_PATH);
  pretender.asked.length = 0;
  const peers = [{ provider: providers[1]?.address ?? "", url: pretender.url, submitter: accounts[1]?.address ?? "" }];
  await ask(await start(0, { allowLocalNodes: false, peers }));
  expect(pretender.asked).toContain(FORWARDED_PATH);
});

test("a member that announces another's submitter does not take its place", async () => {
  await announceNode(0, "https://zero.example");
  await announceNode(1, "https://impostor.example", accounts[0]?.address);
  const node = await start(0);
  expect(nodesOf(node)?.own?.url).toBe("https://zero.example");
});

test("a node that knows only the chain and the directory learns from the members' nodes where the providers are", async () => {
  const [first, ...others] = await Promise.all([0, 1, 2].map((i) => start(i)));
  for (const [i, node] of [first, ...others].entries()) await announceNode(i, node?.base ?? "");
  await announceNode(3, "");
  const bare = await start(3, {}, 0, []);
  await until(
    bare,
    [first, ...others].map((node) => node?.base ?? ""),
  );
  const request = { network_id: 42, dataset, key: "SPOTPX/LEARNED-USD", broadcast: false };
  await expect.poll(async () => (await bare.post(request)).status, { timeout: 30_000, interval: 500 }).toBe(200);
  const { reports } = await bare.ask(request);
  expect(reports.map(({ provider }) => provider)).toEqual(providers.slice(0, 3).map(({ address }) => address));
});

test("a provider is unknown because its node does not answer: callers learn that, and the log says it once", async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  await announceNode(0, url);
  for (const i of [1, 2, 3]) await announceNode(i, "");
  const bare = await start(3, {}, 0, []);
  const request = { network_id: 42, dataset, key: "SPOTPX/UNKNOWN-USD", broadcast: false };
  const { detail } = await bare.askForProblem(request);
  const answer = "could not be reached (ECONNREFUSED)";
  const unknown = "has no endpoint that this operator knows";
  expect(detail).toContain(`${providers[0]?.address}: ${unknown}, because its node ${url} ${answer}: `);
  expect(detail).toContain(`${providers[1]?.address}: ${unknown}: the operator's owner must add it`);
  await bare.askForProblem(request);
  await start(0, {}, port);
  const lines = () => bare.log.map((line) => JSON.parse(line)).filter(({ msg }) => /^the URL of a data prov/.test(msg));
  const about = { network: 42, provider: providers[0]?.address, node: url };
  await expect.poll(lines, { timeout: 30_000 }).toMatchObject([
    { ...about, level: 40, reason: answer },
    { ...about, level: 30 },
  ]);
});

test("a directory that is no contract fails the start by name", async () => {
  await expect(start(0, { committeeDirectory: OTHER_ACCOUNT })).rejects.toThrow(
    `${OTHER_ACCOUNT}, the committeeDirectory, is not a contract`,
  );
});
