import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { encodeUpdateCall } from "@dataset-oracle/protocol/update-call";
import { clockOf } from "@dataset-oracle/tools/clock-of";
import { type Address, type Hex, stringToHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeAll, expect, test } from "vitest";
import { OWNER } from "../../../../test/support/chain.js";
import { startCommittee } from "../../../../test/support/committee.js";
import { type OperatorOptions, type RunningOperator, startOperator } from "../../../../test/support/operator.js";
import { signedBatch, signedUpdate } from "../../../../test/support/signed-update.js";
import type { StubProvider } from "../../../../test/support/stub-providers.js";
import { watchdog } from "../plugin.js";

/** Two operators with the watchdog, and a provider that signs small value for each of them. */

const { chain, providers, members, dataset } = await startCommittee(5);
/** Its committee has four members, the fewest, so that none is ejected; that of the other has five. */
let small: Address;
/** Two datasets with committees of five, in which a member is ejected for what was mined. */
let ofReports: Address;
let ofRows: Address;
/** The keys that the operators know of these two, so that they can read batches. */
const KEYS = ["SPOTPX/ETH-USD", "SPOTPX/BTC-USD"] as const;
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
  ofReports = await chain.deploy(members);
  ofRows = await chain.deploy(members);
  const known = [ofReports, ofRows].map((address) => ({
    ...({ name: "known", address, kind: "median", keyForm: "SPOT_PRICE" } as const),
    keys: KEYS.map((key) => stringToHex(key)),
  }));
  for (const [i, account] of accounts.entries()) {
    // The second one's turn never comes.
    const standing = { role: i === 0 ? "alone" : "volunteer", members, stageMs: 3_600_000 };
    const served = { chain, datasets: [dataset, small, ...known], providers, settings: standing };
    operators.push(await startOperator([served], { account, clock, ...withWatchdog }));
  }
  // A statement from before the committee was set proves nothing against it.
  await chain.client.increaseTime({ seconds: 4 });
  await chain.client.mine({ blocks: 1 });
  aheadMs = 4_000;
});

const [one, two] = [() => operators[0] as RunningOperator, () => operators[1] as RunningOperator];
const liar = () => providers[4] as StubProvider;

afterEach(() => {
  stopped = null;
});

let used = 0;
const newKey = () => `SPOTPX/C${used++}-USD`;
const signersOf = ({ reports }: { reports: readonly { provider: string }[] }) =>
  reports.map(({ provider }) => provider);
const addressesOf = (some: readonly StubProvider[]) => some.map(({ address }) => address);

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
  const { update } = await two().ask(request);
  stopped = null;
  expect([found(one(), small), found(two(), small)]).toEqual([[], []]);

  await sendAsStranger(small, update as Hex);
  await untilFound(one(), small);
  // The second holds only what was mined.
  expect(found(two(), small)).toEqual([]);
  const answers = await Promise.all(operators.map((operator) => operator.ask({ ...request, key: newKey() })));
  expect(answers.map((answer) => signersOf(answer).includes(liar().address))).toEqual([false, true]);
});

/** Has a stranger send a packed update. */
async function sendAsStranger(to: Address, packed: Hex): Promise<void> {
  const hash = await chain.client.sendTransaction({ account: OWNER, to, data: encodeUpdateCall(packed) });
  expect((await chain.client.waitForTransactionReceipt({ hash })).status).toBe("success");
}

async function announce(of: Address): Promise<void> {
  for (const key of KEYS) {
    const call = { address: of, abi: datasetAbi, functionName: "announce", args: [stringToHex(key)] } as const;
    const hash = await chain.client.writeContract({ ...call, account: OWNER, chain: null });
    await chain.client.waitForTransactionReceipt({ hash });
  }
}

test.each([
  [
    "a report",
    () => ofReports,
    (of: Address, round: bigint) => signedUpdate(of, stringToHex(KEYS[1]), round, providers),
  ],
  [
    "a row",
    () => ofRows,
    (of: Address, round: bigint) =>
      signedBatch(
        of,
        KEYS.map((key) => stringToHex(key)),
        round,
        providers,
      ),
  ],
])("%s in mined calldata is the proof with which a provider is ejected", async (_, datasetOf, pack) => {
  const of = datasetOf();
  await announce(of);
  stopped = now();
  const { timestamp } = await one().ask({ network_id: 42, dataset: of, key: KEYS[1], broadcast: false });
  lie();
  const packed = await pack(of, BigInt(timestamp));
  stopped = null;
  expect(await ejectionsOf(of)).toEqual([]);
  await sendAsStranger(of, packed);
  await expect.poll(() => ejectionsOf(of)).toMatchObject([{ member: liar().address, accuser: accounts[0]?.address }]);
});
