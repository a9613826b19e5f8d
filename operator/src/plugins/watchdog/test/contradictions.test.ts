import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import type { ContradictionAnswer } from "@dataset-oracle/protocol/http-schemas/between-nodes";
import type { SignedReport } from "@dataset-oracle/protocol/http-schemas/reports";
import { recoverReporter, signReport } from "@dataset-oracle/protocol/report";
import { type Address, type Hex, numberToHex, stringToHex, toFunctionSelector } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeAll, expect, test } from "vitest";
import { type Chain, OWNER, startChain } from "../../../../test/support/chain.js";
import { findKeyByNodeRank } from "../../../../test/support/find-key-by-node-rank.js";
import { type RunningOperator, startOperator } from "../../../../test/support/operator.js";
import { startRpcProxy } from "../../../../test/support/rpc-proxy.js";
import { type Provider, startProviders } from "../../../../test/support/stub-providers.js";

/** Two nodes, and a provider that signs another value for each of them. */

let chain: Chain;
let providers: Provider[];
/** Its committee has five members. Those of the datasets below have four, the fewest, so that no member is ejected. */
let dataset: Address;
let small: Address;
/** Has the same members as the small one. */
let another: Address;
const nodes: RunningOperator[] = [];
const accounts = [0, 1].map(() => privateKeyToAccount(generatePrivateKey()));
/** The clock stands still while both nodes are asked for one round. */
let stopped: number | null = null;
const clock = () => stopped ?? Date.now();

beforeAll(async () => {
  [chain, providers] = await Promise.all([startChain(42), startProviders(5)]);
  const members = providers.map(({ address }) => address);
  dataset = await chain.deploy(members);
  small = await chain.deploy(members.slice(1));
  another = await chain.deploy(members.slice(1));
  const ports = [await freePort(), await freePort()];
  const peers = accounts.map(({ address: submitter }, i) => {
    return { provider: members[i] ?? "0x", url: `http://127.0.0.1:${ports[i]}`, submitter };
  });
  for (const [i, account] of accounts.entries()) {
    const served = { chain, datasets: [dataset, small, another], providers, settings: { peers, stageMs: 500 } };
    nodes.push(await startOperator([served], { account, clock, port: ports[i] ?? 0 }));
  }
  // A statement from before the committee was set proves nothing against it.
  const { timestamp } = await chain.client.getBlock();
  await sleep(Math.max(0, (Number(timestamp) + 4) * 1_000 - Date.now()));
});

const COMMITTEE_HASH = toFunctionSelector("committeeHash()");

const [one, two] = [() => nodes[0] as RunningOperator, () => nodes[1] as RunningOperator];
const liar = () => providers[4] as Provider;

afterEach(() => {
  stopped = null;
});

let used = 0;
/** Finds a key whose requests the second node serves itself. */
const keyOfSecond = (of: Address) =>
  findKeyByNodeRank(two(), of, ([first]) => first === accounts[1]?.address, `C${used++}X`, clock());

/** Has the provider sign a value for the first node, and another for the second, which sends it. */
async function contradict(of: Address): Promise<string> {
  stopped = Date.now();
  const key = keyOfSecond(of);
  await one().ask({ network_id: 42, dataset: of, key, broadcast: false });
  liar().value += 1n;
  liar().decided.clear();
  const { reports } = await two().ask({ network_id: 42, dataset: of, key, broadcast: true });
  expect(reports.map(({ provider }) => provider)).toContain(liar().address);
  stopped = null;
  return key;
}

async function proofs(node: RunningOperator, of: Address): Promise<ContradictionAnswer[]> {
  const response = await fetch(`${node.base}/contradictions?network_id=42&dataset=${of}`);
  expect(response.status).toBe(200);
  return (await response.json()) as ContradictionAnswer[];
}

const membersOf = async (of: Address) => {
  const contract = { address: of, abi: datasetAbi, eventName: "CommitteeChanged" } as const;
  const events = await chain.client.getContractEvents({ ...contract, fromBlock: 0n, strict: true });
  return events.at(-1)?.args.members ?? [];
};

test("a provider that contradicts itself in a small committee is not counted, and not accused in vain", async () => {
  const key = await contradict(small);
  await expect.poll(() => proofs(one(), small), { timeout: 30_000 }).toHaveLength(1);
  const [proof] = await proofs(one(), small);
  expect(proof).toMatchObject({ provider: liar().address, key: stringToHex(key), dataset: small });
  const [a, b] = (proof?.statements ?? []) as SignedReport[];
  expect(a?.value).not.toBe(b?.value);
  for (const report of [a, b] as SignedReport[]) {
    const { outcome, value, signature, timestamp } = report;
    const signed = { chainId: 42, dataset: small, key: stringToHex(key), round: BigInt(timestamp), outcome } as const;
    expect(await recoverReporter({ ...signed, value: value as Hex }, signature as Hex)).toBe(liar().address);
  }
  const answer = await one().ask({ network_id: 42, dataset: small, key: "SPOTPX/REST-USD", broadcast: false });
  expect(answer.status).toBe("OK");
  expect(answer.reports.map(({ provider }) => provider)).toEqual(providers.slice(1, 4).map(({ address }) => address));
  expect(await membersOf(small)).toHaveLength(4);
});

test("a provider that contradicts itself is ejected on chain, and updates go on with the rest", async () => {
  await contradict(dataset);
  const rest = providers.slice(0, 4).map(({ address }) => address);
  await expect.poll(() => membersOf(dataset), { timeout: 60_000 }).toEqual(rest);
  const events = await chain.client.getContractEvents({
    ...{ address: dataset, abi: datasetAbi, eventName: "MemberEjected", fromBlock: 0n, strict: true },
  });
  expect(events.map(({ args }) => args.member)).toEqual([liar().address]);
  expect(accounts.map(({ address }) => address)).toContain(events[0]?.args.accuser);
  for (const node of nodes) {
    const request = { network_id: 42, dataset, key: keyOfSecond(dataset) };
    const { reports } = await node.ask({ ...request, broadcast: false });
    expect(reports.map(({ provider }) => provider)).toEqual(rest);
    expect((await node.ask({ ...request, broadcast: true }, { prefer: "wait=20" })).status).toBe("OK");
  }
});

test("a provider's contradiction is found in a transaction that a stranger sent", async () => {
  stopped = Date.now();
  const request = { network_id: 42, dataset: another, key: keyOfSecond(another), broadcast: false };
  await one().ask(request);
  liar().value += 1n;
  liar().decided.clear();
  const { transaction } = await two().ask(request);
  stopped = null;
  expect(await proofs(one(), another)).toEqual([]);

  const { to, data } = transaction as { to: Address; data: Hex };
  const hash = await chain.client.sendTransaction({ account: OWNER, to, data });
  expect((await chain.client.waitForTransactionReceipt({ hash })).status).toBe("success");
  await expect.poll(() => proofs(one(), another)).toMatchObject([{ provider: liar().address, dataset: another }]);
});

test("an accusation that no block has yet is not sent a second time", async () => {
  const members = providers.map(({ address }) => address);
  const accusing = await chain.deploy(members);
  const proxy = await startRpcProxy(chain.url);
  const settings = { rpcPollMs: 50 };
  let aheadMs = 0;
  const account = privateKeyToAccount(generatePrivateKey());
  const alone = await startOperator([{ chain, datasets: [accusing], providers, settings, rpcUrls: [proxy.url] }], {
    account,
    clock: () => Date.now() + aheadMs,
  });
  proxy.faults.set("eth_sendRawTransaction", "swallows");
  const network = alone.networks.get(42);
  const served = network?.datasets.get(accusing);
  if (served === undefined) throw new Error("The dataset is not served.");
  const about = { key: stringToHex("SPOTPX/ETH-USD"), round: (await chain.client.getBlock()).timestamp + 1n };
  for (const number of [1, 2]) {
    const report = { ...about, outcome: "OK", value: numberToHex(number, { size: 32 }) } as const;
    const signature = await signReport(liar().account, { chainId: 42, dataset: accusing, ...report });
    network?.statements.add(served, { kind: "report", provider: liar().address, ...report, signature });
  }
  const sent = () => network?.queues[0]?.depth.sent;
  await expect.poll(sent, { timeout: 20_000 }).toBe(1);

  aheadMs = 61_000;
  // Each look at the contradiction reads the hash of the committee.
  const looks = () => proxy.calls.filter(({ params }) => JSON.stringify(params).includes(COMMITTEE_HASH)).length;
  const before = looks();
  await expect.poll(looks, { timeout: 20_000 }).toBeGreaterThan(before + 2);
  expect(sent()).toBe(1);

  proxy.faults.clear();
  await expect.poll(() => membersOf(accusing), { timeout: 20_000 }).toEqual(members.slice(0, 4));
  await expect.poll(sent, { timeout: 20_000 }).toBe(0);
  expect(await chain.nonce(account.address)).toBe(1);
  await alone.close();
});

test("a query for contradictions names a dataset that is served", async () => {
  const ask = async (query: string) => (await fetch(`${one().base}/contradictions?${query}`)).status;
  expect(await ask("network_id=42")).toBe(400);
  expect(await ask(`network_id=42&dataset=${accounts[0]?.address}`)).toBe(404);
  expect(await ask(`network_id=43&dataset=${dataset}`)).toBe(422);
  expect(await ask(`network_id=4e1&dataset=${dataset}`)).toBe(400);
});
