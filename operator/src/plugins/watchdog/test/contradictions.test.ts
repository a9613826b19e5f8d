import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { signBatchReport } from "@dataset-oracle/protocol/batch-report";
import { encodeAccusation } from "@dataset-oracle/protocol/encode-accusation";
import { signReport } from "@dataset-oracle/protocol/report";
import { type Address, type Hex, numberToHex, stringToHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeAll, expect, test } from "vitest";
import { type Chain, OWNER, startChain } from "../../../../test/support/chain.js";
import { type OperatorOptions, type RunningOperator, startOperator } from "../../../../test/support/operator.js";
import { type Provider, startProviders } from "../../../../test/support/stub-providers.js";
import { watchdog } from "../plugin.js";

/** Two operators with the watchdog, and a provider that signs another value for each of them. */

let chain: Chain;
let providers: Provider[];
/** Their committees have five members. Those of the datasets below have four, the fewest, so that no member is ejected. */
let dataset: Address;
let small: Address;
/** Has the same members as the small one. */
let another: Address;
const operators: RunningOperator[] = [];
const accounts = [0, 1].map(() => privateKeyToAccount(generatePrivateKey()));
/** How far the chain and the operators are ahead of this machine's clock. */
let aheadMs = 0;
/** The clock stands still while both operators are asked for one round. */
let stopped: number | null = null;
const now = () => Date.now() + aheadMs;
const clock = () => stopped ?? now();

const withWatchdog = {
  plugins: [],
  configure: (app) => app.register(watchdog, { lookMs: 100 }),
} satisfies OperatorOptions;

beforeAll(async () => {
  [chain, providers] = await Promise.all([startChain(42), startProviders(5)]);
  const addresses = providers.map(({ address }) => address);
  dataset = await chain.deploy(addresses);
  small = await chain.deploy(addresses.slice(1));
  another = await chain.deploy(addresses.slice(1));
  for (const [i, account] of accounts.entries()) {
    // The second one's turn never comes.
    const standing = { sender: i === 0 ? "alone" : "volunteer", members: addresses, stageMs: 3_600_000 };
    const served = { chain, datasets: [dataset, small, another], providers, settings: standing };
    operators.push(await startOperator([served], { account, clock, ...withWatchdog }));
  }
  // A statement from before the committee was set proves nothing against it.
  await chain.client.increaseTime({ seconds: 4 });
  await chain.client.mine({ blocks: 1 });
  aheadMs = 4_000;
});

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
  stopped = now();
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
  stopped = now();
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

test("a report and a row that contradict each other, in the calldata of encodeAccusation, eject their signer", async () => {
  const members = addressesOf(providers);
  const accusing = await chain.deploy(members);
  const { account } = liar();
  const round = (await chain.client.getBlock()).timestamp + 1n;
  const keys = [stringToHex(newKey()), stringToHex(newKey())] as const;
  const [one, two] = [numberToHex(1, { size: 32 }), numberToHex(2, { size: 32 })];
  const about = { chainId: 42, dataset: accusing, round };
  const report = { ...about, key: keys[1], outcome: "OK", value: one } as const;
  const row = { ...about, keys, missing: 1n, values: [one, two] };
  const data = encodeAccusation(
    { key: keys[1], round },
    { ...report, signature: await signReport(account, report) },
    { ...row, signature: await signBatchReport(account, row) },
    { members, toleranceBps: 100n },
  );
  // An accusation stores the block number. In the block that set the committee that store changes nothing, so an
  // estimate made there is too low.
  await chain.wait(await chain.client.sendTransaction({ account: OWNER, to: accusing, data, gas: 150_000n }));
  expect(await membersOf(accusing)).toEqual(members.slice(0, 4));
  expect(await ejectionsOf(accusing)).toEqual([{ member: account.address, accuser: OWNER, reward: 0n }]);
});
