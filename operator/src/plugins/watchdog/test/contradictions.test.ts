import { setTimeout as sleep } from "node:timers/promises";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { type Address, type Hex, stringToHex, toFunctionSelector } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeAll, expect, test } from "vitest";
import { type Chain, OWNER, startChain } from "../../../../test/support/chain.js";
import { type OperatorOptions, type RunningOperator, startOperator } from "../../../../test/support/operator.js";
import { startRpcProxy } from "../../../../test/support/rpc-proxy.js";
import { type Provider, startProviders } from "../../../../test/support/stub-providers.js";
import { watchdog } from "../plugin.js";

/** Two operators with the watchdog, and a provider that signs another value for each of them. */

let chain: Chain;
let providers: Provider[];
/** Their committees have five members. Those of the datasets below have four, the fewest, so that no member is ejected. */
let dataset: Address;
let turns: Address;
let small: Address;
/** Has the same members as the small one. */
let another: Address;
const operators: RunningOperator[] = [];
const accounts = [0, 1].map(() => privateKeyToAccount(generatePrivateKey()));
/** The clock stands still while both operators are asked for one round. */
let stopped: number | null = null;
const clock = () => stopped ?? Date.now();

/** Two operators that find a contradiction at the same time accuse one after the other. */
const STAGE_MS = 6_000;

const withWatchdog = {
  plugins: [],
  configure: (app) => app.register(watchdog, { lookMs: 500 }),
} satisfies OperatorOptions;

beforeAll(async () => {
  [chain, providers] = await Promise.all([startChain(42), startProviders(5)]);
  const addresses = providers.map(({ address }) => address);
  dataset = await chain.deploy(addresses);
  turns = await chain.deploy(addresses);
  small = await chain.deploy(addresses.slice(1));
  another = await chain.deploy(addresses.slice(1));
  for (const [i, account] of accounts.entries()) {
    const settings = { sender: addresses[i + 1] ?? "", members: addresses.slice(1, 3), stageMs: STAGE_MS };
    const served = { chain, datasets: [dataset, turns, small, another], providers, settings };
    operators.push(await startOperator([served], { account, clock, ...withWatchdog }));
  }
  // A statement from before the committee was set proves nothing against it.
  const { timestamp } = await chain.client.getBlock();
  await sleep(Math.max(0, (Number(timestamp) + 4) * 1_000 - Date.now()));
});

const COMMITTEE_HASH = toFunctionSelector("committeeHash()");

const [one, two] = [() => operators[0] as RunningOperator, () => operators[1] as RunningOperator];
const liar = () => providers[4] as Provider;

afterEach(() => {
  stopped = null;
});

let used = 0;
const newKey = () => `SPOTPX/C${used++}-USD`;
const signersOf = ({ reports }: { reports: readonly { provider: string }[] }) =>
  reports.map(({ provider }) => provider);
const addressesOf = (some: readonly Provider[]) => some.map(({ address }) => address);

function lie(): void {
  liar().value += 1n;
  liar().decided.clear();
}

/** Has the provider sign a value for the first operator, and another for the second, which broadcasts it. */
async function contradict(of: Address): Promise<void> {
  stopped = Date.now();
  const request = { network_id: 42, dataset: of, key: newKey() };
  expect(signersOf(await one().ask({ ...request, broadcast: false }))).toContain(liar().address);
  lie();
  expect(signersOf(await two().ask({ ...request, broadcast: true }))).toContain(liar().address);
  stopped = null;
}

/** Returns what an operator has said about members that contradicted themselves. */
const found = ({ log }: RunningOperator, of: Address) =>
  log
    .map((line) => JSON.parse(line))
    .filter(({ dataset, msg }) => dataset === of && msg === "a member contradicted itself, and counts as absent");
const untilFound = (operator: RunningOperator, of: Address) =>
  expect
    .poll(() => found(operator, of), { timeout: 30_000 })
    .toMatchObject([{ network: 42, dataset: of, provider: liar().address }]);

const membersOf = async (of: Address) => {
  const contract = { address: of, abi: datasetAbi, eventName: "CommitteeChanged" } as const;
  const events = await chain.client.getContractEvents({ ...contract, fromBlock: 0n, strict: true });
  return events.at(-1)?.args.members ?? [];
};
const ejectionsOf = async (of: Address) => {
  const contract = { address: of, abi: datasetAbi, eventName: "MemberEjected" } as const;
  const events = await chain.client.getContractEvents({ ...contract, fromBlock: 0n, strict: true });
  return events.map(({ args }) => args);
};

test("a provider that contradicts itself in a small committee is not counted, and not accused in vain", async () => {
  await contradict(small);
  await untilFound(one(), small);
  const request = { network_id: 42, dataset: small, broadcast: false };
  const answer = await one().ask({ ...request, key: newKey() });
  expect(answer.status).toBe("OK");
  expect(signersOf(answer)).toEqual(addressesOf(providers.slice(1, 4)));
  // Without it, too few are left when one more is absent.
  const [, silent] = providers as [Provider, Provider];
  silent.behavior = "server error";
  const { failures } = await one().askForProblem({ ...request, key: newKey() });
  silent.behavior = "honest";
  expect(failures?.map(({ provider, reason }) => [provider, reason])).toEqual([
    [silent.address, "refused"],
    [liar().address, "contradicted"],
  ]);
  expect(await membersOf(small)).toHaveLength(4);
  expect(await chain.nonce(accounts[0]?.address ?? "0x")).toBe(0);
});

test("a provider that contradicts itself is ejected on chain, and updates go on with the rest", async () => {
  await contradict(dataset);
  const rest = addressesOf(providers.slice(0, 4));
  await expect.poll(() => membersOf(dataset), { timeout: 60_000 }).toEqual(rest);
  expect(await ejectionsOf(dataset)).toMatchObject([{ member: liar().address, accuser: accounts[0]?.address }]);
  for (const operator of operators) {
    const request = { network_id: 42, dataset, key: newKey() };
    expect(signersOf(await operator.ask({ ...request, broadcast: false }))).toEqual(rest);
    expect((await operator.ask({ ...request, broadcast: true }, { prefer: "wait=20" })).status).toBe("OK");
  }
});

test("a contradiction in a transaction that a stranger sent is found by all who hold the other statement", async () => {
  stopped = Date.now();
  const request = { network_id: 42, dataset: another, key: newKey(), broadcast: false };
  await one().ask(request);
  lie();
  const { transaction } = await two().ask(request);
  stopped = null;
  expect([found(one(), another), found(two(), another)]).toEqual([[], []]);

  const { to, data } = transaction as { to: Address; data: Hex };
  const hash = await chain.client.sendTransaction({ account: OWNER, to, data });
  expect((await chain.client.waitForTransactionReceipt({ hash })).status).toBe("success");
  await untilFound(one(), another);
  // The second holds only what was mined.
  expect(found(two(), another)).toEqual([]);
  const answers = await Promise.all(operators.map((operator) => operator.ask({ ...request, key: newKey() })));
  expect(answers.map((answer) => signersOf(answer).includes(liar().address))).toEqual([false, true]);
});

test("operators that find the same contradiction take turns, so that one of them pays", async () => {
  const nonces = () => Promise.all(accounts.map(({ address }) => chain.nonce(address)));
  const before = await nonces();
  stopped = Date.now();
  const request = { network_id: 42, dataset: turns, key: newKey(), broadcast: false };
  await Promise.all(operators.map((operator) => operator.ask(request)));
  lie();
  const third = await startOperator([{ chain, datasets: [turns], providers }], { plugins: [], clock });
  const { transaction } = await third.ask(request);
  stopped = null;
  await third.close();
  const { to, data } = transaction as { to: Address; data: Hex };
  await chain.wait(await chain.client.sendTransaction({ account: OWNER, to, data }));
  for (const operator of operators) await untilFound(operator, turns);
  await expect.poll(() => membersOf(turns), { timeout: 30_000 }).toEqual(addressesOf(providers.slice(0, 4)));
  const hasSeen = ({ log }: RunningOperator) =>
    log.some((line) => line.includes(turns) && line.includes("has left the committee"));
  for (const operator of operators) await expect.poll(() => hasSeen(operator), { timeout: 30_000 }).toBe(true);
  const sent = (await nonces()).map((nonce, i) => nonce - (before[i] ?? 0));
  expect(sent.toSorted()).toEqual([0, 1]);
  expect(await ejectionsOf(turns)).toMatchObject([{ accuser: accounts[sent.indexOf(1)]?.address }]);
});

test("an accusation that no block has yet is not sent a second time", async () => {
  const addresses = addressesOf(providers);
  const accusing = await chain.deploy(addresses);
  const proxy = await startRpcProxy(chain.url);
  const settings = { rpcPollMs: 50 };
  let aheadMs = 0;
  const account = privateKeyToAccount(generatePrivateKey());
  const alone = await startOperator([{ chain, datasets: [accusing], providers, settings, rpcUrls: [proxy.url] }], {
    ...{ account, clock: () => Date.now() + aheadMs },
    ...withWatchdog,
  });
  proxy.faults.set("eth_sendRawTransaction", "swallows");
  const network = alone.networks.get(42);
  const served = network?.datasets.get(accusing);
  if (network === undefined || served === undefined) throw new Error("The dataset is not served.");
  // A statement from before the committee was set proves nothing against it.
  const round = (await chain.client.getBlock()).timestamp + 1n;
  const key = stringToHex(newKey());
  for (let asked = 0; asked < 2; asked++) {
    lie();
    await served.source.gatherReports(key, round, served.dataset.committee.current, null, () => {});
  }
  const sent = () => network.senders.queues[0]?.depth.sent;
  await expect.poll(sent, { timeout: 20_000 }).toBe(1);

  aheadMs = 61_000;
  // Each look at the contradiction reads the hash of the committee.
  const looks = () => proxy.calls.filter(({ params }) => JSON.stringify(params).includes(COMMITTEE_HASH)).length;
  const before = looks();
  await expect.poll(looks, { timeout: 20_000 }).toBeGreaterThan(before + 2);
  expect(sent()).toBe(1);

  proxy.faults.clear();
  await expect.poll(() => membersOf(accusing), { timeout: 20_000 }).toEqual(addresses.slice(0, 4));
  await expect.poll(sent, { timeout: 20_000 }).toBe(0);
  expect(await chain.nonce(account.address)).toBe(1);
  await alone.close();
});
