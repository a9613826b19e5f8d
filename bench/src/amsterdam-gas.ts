// Measures the gas of whole transactions on geth under the rules of Amsterdam, which forge does not have, and writes it
// to snapshots/amsterdam.json. With --check, it only compares.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readBytecode } from "@dataset-oracle/devnet/test-support/deploy-test-contracts";
import { GETH_ACCOUNT, GETH_CHAIN_ID, isGethCompiled, startGeth } from "@dataset-oracle/devnet/test-support/geth";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { verifiedLensAbi } from "@dataset-oracle/protocol/abi/verified-lens";
import { signBatchReport } from "@dataset-oracle/protocol/batch-report";
import type { Committee } from "@dataset-oracle/protocol/committee-hash";
import { encodeAccusation } from "@dataset-oracle/protocol/encode-accusation";
import { encodeUpdate, encodeUpdateBatch } from "@dataset-oracle/protocol/encode-update";
import { KEY_FORMS, type KeyForm } from "@dataset-oracle/protocol/key-form";
import { signReport } from "@dataset-oracle/protocol/report";
import { encodeUpdateCall } from "@dataset-oracle/protocol/update-call";
import { readArguments } from "@dataset-oracle/tools/arguments";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import {
  type Address,
  concatHex,
  createPublicClient,
  encodeAbiParameters,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  http,
  keccak256,
  numberToHex,
  parseAbi,
  parseEther,
  size,
  stringToHex,
} from "viem";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";

const USAGE = `Usage: npm run gas:amsterdam [-- --check]

Measures the gas of whole transactions on geth under the rules of Amsterdam, and writes it to snapshots/amsterdam.json, with
the bytes of calldata and the least gas that is charged for them. Compile geth first: npm run geth.

  --check   write nothing; fail if the gas differs from snapshots/amsterdam.json. Without geth, nothing is checked
  --help    show this text

Examples
  npm run gas:amsterdam
  npm run gas:amsterdam -- --check`;

/** One transaction, or its difference to another one. */
interface Measured {
  readonly gas: number;
  /** Of the calldata of a call. */
  readonly bytes?: number;
  /** The least gas that is charged for a call with this calldata. */
  readonly floor?: number;
  /** Of the contract that is created. */
  readonly codeBytes?: number;
}

/** A transaction of geth's account. */
interface GethTransaction {
  /** Without it, the data creates a contract. */
  readonly to?: Address;
  readonly data?: Hex;
  readonly value?: bigint;
}

const FILE = "snapshots/amsterdam.json";
const KEY = stringToHex("SPOTPX/ETH-USD");
const COMMITTEES = { 3: 4, 4: 5, 9: 13, 21: 31 } as const;
const PRICE = parseEther("0.001");
const TOLERANCE_BPS = 100n;
/** The first round, in seconds since 1970; as in forge's tests. The chain has no block yet whose time is later. */
const START = 1_790_000_000n;
/** The time between two updates, and how old a round is as it is stored. */
const LATER = START + 60n;
const ROUND = LATER - 2n;

/** What EIP-2780 and EIP-7976 charge at least for a transaction that calls another account, and for each byte of it. */
const CALL_GAS = 15_000n;
const VALUE_GAS = 6_000n;
const BYTE_GAS = 64n;

const consumerAbi = parseAbi([
  "function updateAndQuery(bytes update) returns (uint256)",
  "function verify(bytes update) returns (uint256)",
  "function read(address oracle, bytes key, uint256 argument, bool isQuerying)",
]);

/** The committee's accounts in its order, the same in every run, so that the calldata is the same. */
function accountsOf(members: number): readonly PrivateKeyAccount[] {
  return Array.from({ length: members }, (_, i) => privateKeyToAccount(numberToHex(i + 1, { size: 32 }))).toSorted(
    (a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1),
  );
}

const committeeOf = (accounts: readonly PrivateKeyAccount[]): Committee => ({
  members: accounts.map(({ address }) => address),
  toleranceBps: TOLERANCE_BPS,
});

/** A value near 3,000e18 that differs in its last digits for each provider, round and key, as in forge's tests. */
function near3000(round: bigint, provider: number, key = 0): Hex {
  const seed = keccak256(concatHex([round, BigInt(provider), BigInt(key)].map((n) => numberToHex(n, { size: 32 }))));
  return numberToHex(parseEther("3000") + (BigInt(seed) % parseEther("1")), { size: 32 });
}

/** The transactions of one account are numbered from 0, so the first contract that it creates has this address. */
const created = (nonce: number) => getContractAddress({ from: GETH_ACCOUNT, nonce: BigInt(nonce) });
/** Each measurement begins with a new chain, and deploys a dataset first. */
const DATASET = created(0);
/** Some deploy a consumer next. */
const CONSUMER = created(1);

function datasetOf(
  accounts: readonly PrivateKeyAccount[],
  { queryPrice = PRICE, name = "MedianDataset", keyForm = "SPOT_PRICE" as KeyForm } = {},
) {
  const settings = {
    ...{
      owner: GETH_ACCOUNT as Address,
      keyForm: KEY_FORMS.indexOf(keyForm),
      maxRoundAge: 300n,
      ...committeeOf(accounts),
    },
    ...{ priceCeiling: parseEther("0.01"), queryPrice },
    ...{ subscriptionPriceCeiling: parseEther("1"), subscriptionPrice: parseEther("0.1") },
  } as const;
  return { data: encodeDeployData({ abi: datasetAbi, args: [settings], bytecode: readBytecode(name) }) };
}

const consumerOf = (name: string, args: Hex = "0x"): GethTransaction => ({
  data: concatHex([readBytecode(name, "Consumers"), args]),
  value: parseEther("1"),
});

/** A packed update of a key by the first members of the committee. */
async function updateOf(
  accounts: readonly PrivateKeyAccount[],
  signers: number,
  round: bigint,
  { key = KEY, value: reported = near3000 } = {},
): Promise<Hex> {
  const header = { chainId: GETH_CHAIN_ID, dataset: DATASET, key, round };
  const reports = accounts.slice(0, signers).map(async (account, i) => {
    const value = reported(round, i);
    const signature = await signReport(account, { ...header, outcome: "OK", value });
    return { provider: account.address, value, signature };
  });
  return encodeUpdate("median", header, committeeOf(accounts), "OK", await Promise.all(reports));
}

async function batchOf(accounts: readonly PrivateKeyAccount[], signers: number, keys: readonly Hex[], round: bigint) {
  const header = { chainId: GETH_CHAIN_ID, dataset: DATASET, keys, round };
  const rows = accounts.slice(0, signers).map(async (account, i) => {
    const values = keys.map((_, key) => near3000(round, i, key));
    const signature = await signBatchReport(account, { ...header, missing: 0n, values });
    return { provider: account.address, missing: 0n, values, signature };
  });
  return encodeUpdateBatch("median", header, committeeOf(accounts), await Promise.all(rows));
}

const call = (data: Hex, value = 0n, to: Address = DATASET): GethTransaction => ({ to, data, value });
/** Calls the dataset with a packed update. */
const updating = (packed: Hex) => call(encodeUpdateCall(packed));
const query = () => call(encodeFunctionData({ abi: datasetAbi, functionName: "query", args: [KEY] }), PRICE);

/** What is measured: the transactions before it, and the one of the row after them. */
interface GasCase {
  readonly name: string;
  readonly before?: readonly GethTransaction[];
  /** In the block of the measured one. */
  readonly inItsBlock?: readonly GethTransaction[];
  readonly transaction: GethTransaction;
  /** The row is what the transaction costs more than this one. */
  readonly without?: GethTransaction;
}

async function updateCases(): Promise<GasCase[]> {
  const cases = Object.entries(COMMITTEES).map(async ([k, members]): Promise<GasCase[]> => {
    const accounts = accountsOf(members);
    const before = [datasetOf(accounts)];
    const first = updating(await updateOf(accounts, Number(k), START));
    return [
      { name: `first update of a key, ${k} of ${members} signers`, before, transaction: first },
      {
        name: `update, ${k} of ${members} signers`,
        before: [...before, first],
        transaction: updating(await updateOf(accounts, Number(k), ROUND)),
      },
    ];
  });
  return (await Promise.all(cases)).flat();
}

/** Updates whose bytes decide what they cost, with hardly more signers, or longer values and keys, than that takes. */
async function floorCases(): Promise<GasCase[]> {
  const ofLength = (bytes: number) => (_: bigint, provider: number) =>
    numberToHex((1n << BigInt(8 * bytes - 1)) + BigInt(provider), { size: 32 });
  const key = stringToHex(`WEB/${"ab".repeat(32)}/`.padEnd(256, "x"));
  const rows = [
    ["69 of 103 signers", 69, 103, {}],
    ["21 of 31 signers, values of 16 bytes", 21, 31, { value: ofLength(16) }],
    ["13 of 19 signers, values of 23 bytes", 13, 19, { value: ofLength(23) }],
    ["9 of 13 signers, values of 12 bytes, a key of 256", 9, 13, { value: ofLength(12), key }],
  ] as const;
  const cases = rows.map(async ([name, signers, members, report]): Promise<GasCase> => {
    const accounts = accountsOf(members);
    const dataset = datasetOf(accounts, { keyForm: "key" in report ? "WEB_ORACLE" : "SPOT_PRICE" });
    const first = updating(await updateOf(accounts, signers, START, report));
    const transaction = updating(await updateOf(accounts, signers, ROUND, report));
    return { name: `update, ${name}`, before: [dataset, first], transaction };
  });
  return Promise.all(cases);
}

async function batchCase(count: number, signers: 4 | 9): Promise<GasCase> {
  const members = COMMITTEES[signers];
  const accounts = accountsOf(members);
  const keys = Array.from({ length: count }, (_, i) => stringToHex(`SPOTPX/K${i}-USD`));
  const announce = (key: Hex) => call(encodeFunctionData({ abi: datasetAbi, functionName: "announce", args: [key] }));
  return {
    name: `batch of ${count}, ${signers} of ${members} signers`,
    before: [datasetOf(accounts), ...keys.map(announce), updating(await batchOf(accounts, signers, keys, START))],
    transaction: updating(await batchOf(accounts, signers, keys, ROUND)),
  };
}

/** Whole transactions of a consumer that brings an update. */
async function consumerUpdateCases(): Promise<GasCase[]> {
  const prepared = async (signers: 3 | 4 | 9, queryPrice: bigint) => {
    const accounts = accountsOf(COMMITTEES[signers]);
    const consumer = consumerOf("UpdateBringingConsumer", encodeAbiParameters([{ type: "address" }], [DATASET]));
    const stored = updating(await updateOf(accounts, signers, START));
    // The first payment costs more, because the dataset has no balance yet.
    const before = [datasetOf(accounts, { queryPrice }), consumer, stored, ...(queryPrice > 0n ? [query()] : [])];
    return { before, update: await updateOf(accounts, signers, ROUND) };
  };
  const bringing = (functionName: "updateAndQuery" | "verify", update: Hex) =>
    call(encodeFunctionData({ abi: consumerAbi, functionName, args: [update] }), 0n, CONSUMER);
  const verifications = [PRICE, 0n].flatMap((price) =>
    ([3, 4, 9] as const).map(async (signers): Promise<GasCase> => {
      const { before, update } = await prepared(signers, price);
      const terms = `${price === 0n ? "price 0" : "paid"}, ${signers} of ${COMMITTEES[signers]} signers`;
      return { name: `verifySpotPrice, ${terms}`, before, transaction: bringing("verify", update) };
    }),
  );
  const { before, update } = await prepared(4, PRICE);
  const transaction = bringing("updateAndQuery", update);
  return [
    ...(await Promise.all(verifications)),
    { name: "updateAndQuerySpotPrice, paid, 4 of 5 signers", before, transaction },
    {
      name: "updateAndQuerySpotPrice, paid, another sender was faster",
      before,
      inItsBlock: [updating(update)],
      transaction,
    },
  ];
}

/** What a query of a stored value adds to a consumer's transaction. */
async function queryCases(): Promise<GasCase[]> {
  const accounts = accountsOf(4);
  const stored = updating(await updateOf(accounts, 3, START));
  const rows = [0n, PRICE].flatMap((queryPrice) => {
    const consumers = [
      ["query", "QueryingConsumer", queryPrice],
      ["querySpotPriceWithExpiry", "HelpedConsumer", 600n],
    ] as const;
    return consumers.map(([name, consumer, argument]): GasCase => {
      const reading = (isQuerying: boolean) => {
        const args = [DATASET, KEY, argument, isQuerying] as const;
        return call(encodeFunctionData({ abi: consumerAbi, functionName: "read", args }), 0n, CONSUMER);
      };
      return {
        name: `${name}, ${queryPrice === 0n ? "price 0" : "paid"}`,
        before: [datasetOf(accounts, { queryPrice }), consumerOf(consumer), stored, reading(true)],
        transaction: reading(true),
        without: reading(false),
      };
    });
  });
  return rows;
}

const shareIncome = (committee: Committee) => {
  const args = [committee.members, committee.toleranceBps] as const;
  return call(encodeFunctionData({ abi: datasetAbi, functionName: "shareIncome", args }));
};

async function accusationCase(members: number): Promise<GasCase> {
  const accounts = accountsOf(members);
  const [accused] = accounts as [PrivateKeyAccount];
  const header = { chainId: GETH_CHAIN_ID, dataset: DATASET, key: KEY, round: ROUND };
  const said = async (value: bigint) => {
    const content = { outcome: "OK", value: numberToHex(parseEther("3000") + value, { size: 32 }) } as const;
    return { ...content, signature: await signReport(accused, { ...header, ...content }) };
  };
  const stored = updating(await updateOf(accounts, members - 1, START));
  const committee = committeeOf(accounts);
  // Sharing leaves a remainder, so that a slot has a value already.
  const before = [datasetOf(accounts), stored, query(), shareIncome(committee), ...Array(10).fill(query())];
  const data = encodeAccusation(header, await said(1n), await said(2n), committee);
  return { name: `accusation, ${members} members`, before, transaction: call(data) };
}

/** The committee's income is shared for the second time. */
async function sharingCases(): Promise<GasCase[]> {
  return Promise.all(
    [4, 13].flatMap((members) =>
      [true, false].map(async (exist): Promise<GasCase> => {
        const accounts = accountsOf(members);
        const committee = committeeOf(accounts);
        const pay = exist ? committee.members.map((to) => ({ to, value: 1n })) : [];
        const stored = updating(await updateOf(accounts, members - 1, START));
        return {
          name: `sharing, ${members} ${exist ? "members" : "members whose accounts do not exist"}`,
          before: [datasetOf(accounts), ...pay, stored, query()],
          transaction: shareIncome(committee),
        };
      }),
    ),
  );
}

/** What each part costs to deploy; the scripts deploy two of them through a proxy, which adds a little. */
function deploymentCases(): GasCase[] {
  const dataset = datasetOf(accountsOf(4));
  const lens = { abi: verifiedLensAbi, args: [["https://operator.example/gateway/{sender}/{data}"]] } as const;
  const asset = (name: string, key: string) => ({ asset: `0x${name.repeat(20)}` as Address, key: stringToHex(key) });
  const assets = [asset("01", "SPOTPX/ETH-USD"), asset("02", "")];
  const types = (text: string) => text.split(" ").map((type) => ({ type }));
  const adapter = (name: string, args: Hex) => ({ data: concatHex([readBytecode(name), args]) });
  const tuple = {
    type: "tuple[]",
    components: [
      { name: "asset", type: "address" },
      { name: "key", type: "bytes" },
    ],
  };
  const parts: Record<string, GethTransaction> = {
    MedianDataset: dataset,
    MajorityDataset: datasetOf(accountsOf(4), { name: "MajorityDataset" }),
    WebOracleRegistry: { data: readBytecode("WebOracleRegistry") },
    CommitteeDirectory: { data: readBytecode("CommitteeDirectory") },
    VerifiedLens: { data: encodeDeployData({ ...lens, bytecode: readBytecode("VerifiedLens") }) },
    ChainlinkAdapter: adapter("ChainlinkAdapter", encodeAbiParameters(types("address bytes uint8"), [DATASET, KEY, 8])),
    PythAdapter: adapter("PythAdapter", encodeAbiParameters(types("address int32 uint256"), [DATASET, -8, 100n])),
    QuoteAdapter: adapter(
      "QuoteAdapter",
      encodeAbiParameters([{ type: "address" }, { type: "uint256" }, tuple], [DATASET, 3_600n, assets]),
    ),
    MorphoAdapter: adapter(
      "MorphoAdapter",
      encodeAbiParameters(types("address address address"), [created(1), assets[0]?.asset, assets[1]?.asset]),
    ),
  };
  const quotes = parts.QuoteAdapter as GethTransaction;
  return Object.entries(parts).map(([name, transaction]) => ({
    name: `deployment, ${name}`,
    before: name.endsWith("Adapter") ? [dataset, ...(name === "MorphoAdapter" ? [quotes] : [])] : [],
    transaction,
  }));
}

/** Returns the least gas that is charged for a call, whatever it executes. */
function floorOf({ data = "0x", value = 0n }: GethTransaction): bigint {
  return CALL_GAS + (value > 0n ? VALUE_GAS : 0n) + BYTE_GAS * BigInt(size(data));
}

/** Measures on the chain of a node that has no transaction yet. */
function measurer(url: string) {
  const client = createPublicClient({ transport: http(url, { retryCount: 0, timeout: 60_000 }) });
  return async ({ name, before = [], inItsBlock = [], transaction, without }: GasCase): Promise<Measured> => {
    const measured = [...inItsBlock, ...(without === undefined ? [] : [without]), transaction];
    // geth's own execution of whole transactions on top of its first block, each with cold storage.
    const blocks = await client.simulateBlocks({
      blockNumber: 0n,
      blocks: [
        { blockOverrides: { time: START }, calls: before.map(fromAccount) as never[] },
        { blockOverrides: { time: LATER }, calls: measured.map(fromAccount) as never[] },
      ],
    });
    for (const { status, error } of blocks.flatMap(({ calls }) => calls as { status: string; error?: Error }[]))
      if (status !== "success") throw new Error(`A transaction of "${name}" failed: ${error?.message}`);
    const results = blocks.at(-1)?.calls as unknown as { gasUsed: bigint; data: Hex }[];
    const [first, last] = [results[0], results.at(-1)] as [{ gasUsed: bigint }, { gasUsed: bigint; data: Hex }];
    const gas = Number(last.gasUsed);
    const { to, data = "0x" } = transaction;
    if (to === undefined) return { gas, codeBytes: size(last.data) };
    const floor = Number(floorOf(transaction));
    if (without === undefined) return { gas, bytes: size(data), floor };
    if (Number(first.gasUsed) <= floor)
      throw new Error(`Without what is measured, "${name}" uses no more than the floor, ${floor}. Let it do more.`);
    return { gas: gas - Number(first.gasUsed) };
  };
}

const fromAccount = (transaction: GethTransaction) => ({ ...transaction, account: GETH_ACCOUNT }) as const;

async function measureAll(): Promise<Record<string, Measured>> {
  const cases = [
    ...(await updateCases()),
    ...(await floorCases()),
    await batchCase(10, 4),
    await batchCase(100, 4),
    await batchCase(100, 9),
    ...(await consumerUpdateCases()),
    ...(await queryCases()),
    ...(await Promise.all([5, 13, 31].map(accusationCase))),
    ...(await sharingCases()),
    ...deploymentCases(),
  ];
  const geth = await startGeth({ rules: "amsterdam" });
  try {
    const measure = measurer(geth.url);
    const rows: [string, Measured][] = [];
    for (const one of cases) rows.push([one.name, await measure(one)]);
    return Object.fromEntries(rows.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  } finally {
    await geth.close();
  }
}

function compare(measured: Record<string, Measured>, committed: Record<string, Measured>): string[] {
  const names = [...new Set([...Object.keys(measured), ...Object.keys(committed)])];
  const text = (row: Measured | undefined) => (row === undefined ? "missing" : JSON.stringify(row));
  return names
    .filter((name) => text(measured[name]) !== text(committed[name]))
    .map((name) => `${name}: measured ${text(measured[name])}, committed ${text(committed[name])}`);
}

const isCheck = readArguments(USAGE, { check: { type: "boolean" } }).values.check === true;
if (!isGethCompiled()) {
  console.log("geth is not compiled, so nothing is measured. Compile it: npm run geth");
  if (!isCheck) process.exitCode = 1;
} else {
  const measured = await measureAll();
  const path = join(ROOT, FILE);
  if (!isCheck) {
    writeFileSync(path, `${JSON.stringify(measured, null, 2)}\n`);
  } else {
    const differences = compare(measured, JSON.parse(readFileSync(path, "utf8")));
    for (const difference of differences) console.error(difference);
    if (differences.length > 0) {
      console.error(`The gas differs from ${FILE}. Run "npm run gas:amsterdam" and commit the result.`);
      process.exitCode = 1;
    }
  }
}
