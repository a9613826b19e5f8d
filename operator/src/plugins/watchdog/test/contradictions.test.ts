import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { clockOf } from "@dataset-oracle/tools/clock-of";
import type { Address, Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeAll, expect, test } from "vitest";
import { OWNER } from "../../../../test/support/chain.js";
import { startCommittee } from "../../../../test/support/committee.js";
import { type OperatorOptions, type RunningOperator, startOperator } from "../../../../test/support/operator.js";
import type { Provider } from "../../../../test/support/stub-providers.js";
import { watchdog } from "../plugin.js";

/** Two operators with the watchdog, and a provider that signs small value for each of them. */

const { chain, providers, members, dataset } = await startCommittee(5);
/** Its committee has four members, the fewest, so that none is ejected; that of the other has five. */
let small: Address;
const operators: RunningOperator[] = [];
const accounts = [0, 1].map(() => privateKeyToAccount(generatePrivateKey()));
/** How far the chain and the operators are ahead of this machine's clock. */
let aheadMs = 0;
/** The clock stands still while both operators are asked for one round. */
let stopped: number | null = null;
const now = () => Date.now() + aheadMs;
const clock = clockOf(() => stopped ?? now());

const withWatchdog = {
  plugins: [],
  configure: (app) => app.register(watchdog, { lookMs: 100 }),
} satisfies OperatorOptions;

beforeAll(async () => {
  small = await chain.deploy(members.slice(1));
  for (const [i, account] of accounts.entries()) {
    // The second one's turn never comes.
    const standing = { sender: i === 0 ? "alone" : "volunteer", members, stageMs: 3_600_000 };
    const served = { chain, datasets: [dataset, small], providers, settings: standing };
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

/** Has the provider sign a value for the first operator, and small for the second, which broadcasts it. */
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
  expect.poll(() => found(operator, of)).toMatchObject([{ network: 42, dataset: of, provider: liar().address }]);

const ejectionsOf = async (of: Address) => {
  const contract = { address: of, abi: datasetAbi, eventName: "MemberEjected" } as const;
  const events = await chain.client.getContractEvents({ ...contract, fromBlock: 0n, strict: true });
  return events.map(({ args }) => args);
};

test("a provider that contradicts itself is ejected on chain, and updates go on with the rest", async () => {
  await contradict(dataset);
  const rest = addressesOf(providers.slice(0, 4));
  const ejection = { member: liar().address, accuser: accounts[0]?.address };
  await expect.poll(() => ejectionsOf(dataset)).toMatchObject([ejection]);
  for (const operator of operators) {
    const request = { network_id: 42, dataset, key: newKey() };
    expect(signersOf(await operator.ask({ ...request, broadcast: false }))).toEqual(rest);
    expect((await operator.ask({ ...request, broadcast: true }, { prefer: "wait=20" })).status).toBe("OK");
  }
});

test("a contradiction in a transaction that a stranger sent is found by all who hold the other statement", async () => {
  stopped = now();
  const request = { network_id: 42, dataset: small, key: newKey(), broadcast: false };
  await one().ask(request);
  lie();
  const { transaction } = await two().ask(request);
  stopped = null;
  expect([found(one(), small), found(two(), small)]).toEqual([[], []]);

  const { to, data } = transaction as { to: Address; data: Hex };
  const hash = await chain.client.sendTransaction({ account: OWNER, to, data });
  expect((await chain.client.waitForTransactionReceipt({ hash })).status).toBe("success");
  await untilFound(one(), small);
  // The second holds only what was mined.
  expect(found(two(), small)).toEqual([]);
  const answers = await Promise.all(operators.map((operator) => operator.ask({ ...request, key: newKey() })));
  expect(answers.map((answer) => signersOf(answer).includes(liar().address))).toEqual([false, true]);
});
