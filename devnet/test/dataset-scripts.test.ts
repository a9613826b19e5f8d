import { readFileSync, writeFileSync } from "node:fs";
import { type Account, PROVIDERS } from "@dataset-oracle/devnet/accounts";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { encodeAccusation } from "@dataset-oracle/protocol/encode-accusation";
import { signReport } from "@dataset-oracle/protocol/report";
import {
  type Address,
  encodeFunctionData,
  getAddress,
  type Hex,
  parseAbi,
  parseEther,
  parseGwei,
  stringToHex,
  toFunctionSelector,
  toHex,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { OWNER, type ScriptRunner, startScriptRunner } from "./script-runner.js";
import { settingsOf } from "./script-settings.js";

/** An unlocked account that is neither the owner nor a member of the deployed dataset. */
const OUTSIDER = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

/** Stands in for a multisig: an owner with code, which makes calls when it is impersonated. */
const MULTISIG = getAddress("0x5afe000000000000000000000000000000000001");

const SETTINGS = settingsOf(42);
const MEMBERS = SETTINGS.financial.members as Address[];
const ENV = { DATASET: "financial" };
/** The deployed committee, for where the RPC has no logs of it. */
const GIVEN_COMMITTEE = { CURRENT_MEMBERS: MEMBERS.join(","), CURRENT_TOLERANCE_BPS: "100" };

let scripts: ScriptRunner;
let dataset: Address;
let snapshot: Hex;
let deploymentFile: string;

const read = (functionName: "queryPrice" | "committeeHash" | "owner" | "pendingOwner" | "committeeBlock") =>
  scripts.client.readContract({ address: dataset, abi: datasetAbi, functionName });
const balance = (address: Address) => scripts.client.getBalance({ address });
const fill = (wei: bigint) => scripts.client.setBalance({ address: dataset, value: wei });
const configure = (changes: object) =>
  scripts.configure({ ...SETTINGS, financial: { ...SETTINGS.financial, ...changes } });
const send = (name: string, env: Record<string, string> = {}, sender?: Address) =>
  scripts.run(name, ["--broadcast"], { ...ENV, ...env }, sender);
/** The committee in the deployment file. */
const listed = () => scripts.deployment().datasets[0]?.committee;
const dryRun = (name: string, env: Record<string, string> = {}) => scripts.run(name, [], { ...ENV, ...env });

beforeAll(async () => {
  scripts = await startScriptRunner(42);
  configure({});
  expect(await scripts.run("DeployFinancialDataset", ["--broadcast"])).toMatchObject({ exitCode: 0 });
  dataset = scripts.deployment().datasets[0]?.address as Address;
  snapshot = await scripts.client.snapshot();
  deploymentFile = readFileSync(scripts.deploymentFile, "utf8");
});

/** Each test starts at the dataset as it was deployed. */
beforeEach(async () => {
  await scripts.client.revert({ id: snapshot });
  snapshot = await scripts.client.snapshot();
  writeFileSync(scripts.deploymentFile, deploymentFile);
  configure({});
});

afterAll(() => scripts.close());

/** Changes the block that the dataset has on record for its committee: the lowest 40 bits of a slot. */
async function recordCommitteeBlock(block: bigint): Promise<void> {
  const record = BigInt((await scripts.client.getStorageAt({ address: dataset, slot: "0x3" })) ?? 0);
  const value = toHex(((record >> 40n) << 40n) | block, { size: 32 });
  await scripts.client.setStorageAt({ address: dataset, index: 3, value });
  expect(await read("committeeBlock")).toBe(block);
}

/** Asserts that a script refuses with a message, and sends nothing. */
async function expectRefused(run: ReturnType<typeof send>, message: string): Promise<void> {
  const { exitCode, lastLine, sent } = await run;
  expect(lastLine).toContain(message);
  expect(exitCode).not.toBe(0);
  expect(sent).toBe(0);
}

/** Asserts that a script reports that nothing has to change, and sends nothing. */
async function expectNothingToDo(run: ReturnType<typeof send>, message: string): Promise<void> {
  const { exitCode, output, sent } = await run;
  expect(output).toContain(message);
  expect([exitCode, sent]).toEqual([0, 0]);
}

/** Returns the calls that a script printed for another account to make. */
const printedCalls = (output: string) =>
  [...output.matchAll(/^ +to +(0x[0-9a-fA-F]{40})\n +data (0x[0-9a-f]+)$/gm)].map(([, to, data]) => ({ to, data }));

/** Makes the calls as the multisig. */
async function makeAsMultisig(calls: { to?: string | undefined; data?: string | undefined }[]): Promise<void> {
  const { client } = scripts;
  await client.setBalance({ address: MULTISIG, value: parseEther("1") });
  await client.impersonateAccount({ address: MULTISIG });
  for (const { to, data } of calls) {
    const params = { account: MULTISIG, to: to as Address, data: data as Hex, chain: null } as const;
    const receipt = await client.waitForTransactionReceipt({ hash: await client.sendTransaction(params) });
    expect(receipt.status).toBe("success");
  }
}

/** Hands the dataset over to the multisig. */
async function giveToMultisig(): Promise<void> {
  const { client } = scripts;
  await client.setCode({ address: MULTISIG, bytecode: "0x00" });
  configure({ owner: MULTISIG });
  expect(await send("TransferOwnership")).toMatchObject({ exitCode: 0, sent: 1 });
  const { output } = await send("AcceptOwnership");
  await makeAsMultisig(printedCalls(output));
  expect(await read("owner")).toBe(MULTISIG);
}

describe("every operation", () => {
  test("requires the name of a deployed dataset", async () => {
    await expectRefused(send("SetQueryPrice", { DATASET: "" }), "DATASET is not set. Set it to the dataset's name");
    await expectRefused(
      send("SetQueryPrice", { DATASET: "webOracleBytes" }),
      "has no deployed dataset webOracleBytes.",
    );
    await scripts.client.setCode({ address: dataset, bytecode: "0x" });
    await expectRefused(send("SetQueryPrice"), "has no deployed dataset financial. Correct DATASET, or deploy it.");
  });

  test("refuses the settings of another network", async () => {
    scripts.configure({ ...SETTINGS, chainId: 1 });
    await expectRefused(send("ShareIncome"), "settings.json is for chain 1, but the RPC is on chain 42.");
  });

  test("reads the chain as it is, not another that had the same block", async () => {
    const { client } = scripts;
    const timestamp = (await client.getBlock()).timestamp + 60n;
    for (const income of [parseEther("4"), parseEther("8")]) {
      const id = await client.snapshot();
      await fill(income);
      await client.setNextBlockTimestamp({ timestamp });
      await client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei("1") });
      const { output } = await dryRun("ShareIncome");
      expect(output).toContain(`Share ${income} wei among the committee's 4 members:`);
      await client.revert({ id });
    }
  });

  test("that is reserved to the owner is refused to anyone else", async () => {
    const refusal = `The owner is ${OWNER}, not the sender. Sign with its key.`;
    configure({ queryPrice: "7", subscriptionPrice: "7", toleranceBps: "7", owner: OUTSIDER });
    for (const name of ["SetQueryPrice", "SetSubscriptionPrice", "RotateCommittee", "TransferOwnership"]) {
      await expectRefused(send(name, {}, OUTSIDER), refusal);
    }
  });
});

describe("SetQueryPrice", () => {
  test("sets the price of the settings, once, after a dry run that sends nothing", async () => {
    configure({ queryPrice: "2000000000000000" });
    const change = "Set the query price: 1000000000000000 -> 2000000000000000 wei";
    const dry = await dryRun("SetQueryPrice");
    expect(dry.output).toContain(change);
    expect(dry.output).toContain("This was a dry run: nothing was sent or written.");
    expect([dry.exitCode, dry.sent, await read("queryPrice")]).toEqual([0, 0, 1_000_000_000_000_000n]);

    const { exitCode, output, sent } = await send("SetQueryPrice");
    expect(output).toContain(change);
    const data = encodeFunctionData({ abi: datasetAbi, functionName: "setQueryPrice", args: [2_000_000_000_000_000n] });
    expect(printedCalls(output)).toEqual([{ to: dataset, data }]);
    expect([exitCode, sent, await read("queryPrice")]).toEqual([0, 1, 2_000_000_000_000_000n]);
    await expectNothingToDo(send("SetQueryPrice"), "Nothing to do: the query price is 2000000000000000 wei.");
  });

  test("refuses a price above the ceiling", async () => {
    configure({ queryPrice: "10000000000000001" });
    const refusal = "financial.queryPrice is above the dataset's ceiling of 10000000000000000 wei. Lower it.";
    await expectRefused(send("SetQueryPrice"), refusal);
  });
});

describe("SetSubscriptionPrice", () => {
  async function subscriptionPrice(): Promise<bigint> {
    const cost = { address: dataset, abi: datasetAbi, functionName: "costOfSubscription" } as const;
    const [price] = await scripts.client.readContract(cost);
    return price;
  }

  test("sets the price of the settings, once, after a dry run that sends nothing", async () => {
    configure({ subscriptionPrice: "200000000000000000" });
    const change = "Set the subscription price: 100000000000000000 -> 200000000000000000 wei";
    const dry = await dryRun("SetSubscriptionPrice");
    expect(dry.output).toContain(change);
    expect([dry.exitCode, dry.sent, await subscriptionPrice()]).toEqual([0, 0, parseEther("0.1")]);

    const { exitCode, output, sent } = await send("SetSubscriptionPrice");
    expect(output).toContain(change);
    expect([exitCode, sent, await subscriptionPrice()]).toEqual([0, 1, parseEther("0.2")]);
    await expectNothingToDo(
      send("SetSubscriptionPrice"),
      "Nothing to do: the subscription price is 200000000000000000 wei.",
    );
  });

  test("refuses a price above the ceiling", async () => {
    configure({ subscriptionPrice: "1000000000000000001" });
    const refusal = "financial.subscriptionPrice is above the dataset's ceiling of 1000000000000000000 wei. Lower it.";
    await expectRefused(send("SetSubscriptionPrice"), refusal);
  });
});

describe("Subscribe", () => {
  const until = () =>
    scripts.client.readContract({
      address: dataset,
      abi: datasetAbi,
      functionName: "subscribedUntil",
      args: [MULTISIG],
    });

  test("pays for the periods that are missing, whoever sends it, and for none twice", async () => {
    const env = { READER: MULTISIG, DAYS: "31" };
    const change = `Subscribe ${MULTISIG} for 60 days: 200000000000000000 wei`;
    const dry = await dryRun("Subscribe", env);
    expect(dry.output).toContain(change);
    expect([dry.exitCode, dry.sent, await until()]).toEqual([0, 0, 0n]);

    const { timestamp: before } = await scripts.client.getBlock();
    const { exitCode, output, sent } = await send("Subscribe", env, OUTSIDER);
    expect(output).toContain(change);
    expect([exitCode, sent, await balance(dataset)]).toEqual([0, 1, parseEther("0.2")]);
    const paidUntil = (await until()) as bigint;
    const paidAt = paidUntil - 60n * 86_400n;
    expect(paidAt).toBeGreaterThan(before);
    expect(paidAt).toBeLessThanOrEqual((await scripts.client.getBlock()).timestamp);

    await expectNothingToDo(send("Subscribe", env), `Nothing to do: ${MULTISIG} is subscribed until ${paidUntil}.`);
    const longer = await send("Subscribe", { ...env, DAYS: "61" });
    expect(longer.output).toContain(`Subscribe ${MULTISIG} for 30 days: 100000000000000000 wei`);
    expect(await until()).toBe(paidUntil + 30n * 86_400n);
  });

  test("requires the reader and the number of days", async () => {
    await expectRefused(send("Subscribe", { DAYS: "31" }), "READER is not set. Set it to the address that reads");
    await expectRefused(send("Subscribe", { READER: MULTISIG }), "DAYS is not set. Set it to the number of days");
  });
});

describe("DeployAdapter", () => {
  const deployAdapter = (sig: string, env: Record<string, string>) =>
    scripts.run("DeployAdapter", ["--broadcast", "--sig", sig], { ...ENV, ...env }, OUTSIDER);
  const addressIn = (output: string) => output.match(/^ *Deploy \w+ at (0x[0-9a-fA-F]{40})$/m)?.[1] as Address;
  const OTHER = "0x5afe000000000000000000000000000000000003";
  const TOKENS = ["0x0000000000000000000000000000000000000348", "0x5afe000000000000000000000000000000000002"] as const;

  beforeEach(async () => {
    // A token with 6 decimals, whatever it is asked.
    await scripts.client.setCode({ address: TOKENS[1], bytecode: "0x60065f5260205ff3" });
  });

  test("deploys each adapter, which then needs a subscription", async () => {
    const chainlink = addressIn((await deployAdapter("chainlink()", { KEY: "SPOTPX/ETH-USD" })).output);
    const feed = parseAbi([
      "function description() view returns (string)",
      "function decimals() view returns (uint8)",
      "function latestRoundData() view returns (uint80, int256, uint256, uint256, uint80)",
    ]);
    const read = (functionName: "description" | "decimals" | "latestRoundData", account?: Address) =>
      scripts.client.readContract({ address: chainlink, abi: feed, functionName, account });
    expect([await read("description"), await read("decimals")]).toEqual(["SPOTPX/ETH-USD", 8]);
    const selector = toFunctionSelector("SubscriptionNeeded(address,uint256,uint256)");
    await expect(read("latestRoundData", OUTSIDER)).rejects.toThrow(selector);
    expect(await send("Subscribe", { READER: chainlink, DAYS: "30" })).toMatchObject({ exitCode: 0, sent: 1 });
    await expect(read("latestRoundData", OUTSIDER)).rejects.toThrow("No data present");

    const pyth = addressIn((await deployAdapter("pyth()", {})).output);
    const settings = parseAbi([
      "function expo() view returns (int32)",
      "function confidenceBps() view returns (uint256)",
    ]);
    expect(await scripts.client.readContract({ address: pyth, abi: settings, functionName: "expo" })).toBe(-8);

    const assets = { ASSETS: TOKENS.join(","), KEYS: ",SPOTPX/ETH-USD", MAX_AGE: "600" };
    const quotes = addressIn((await deployAdapter("quotes()", assets)).output);
    const pair = { QUOTES: quotes, COLLATERAL: TOKENS[1], LOAN: TOKENS[0] };
    const morpho = addressIn((await deployAdapter("morpho()", pair)).output);
    const abi = parseAbi(["function quotes() view returns (address)", "function maxAge() view returns (uint256)"]);
    expect(await scripts.client.readContract({ address: quotes, abi, functionName: "maxAge" })).toBe(600n);
    expect(await scripts.client.readContract({ address: morpho, abi, functionName: "quotes" })).toBe(
      getAddress(quotes),
    );
  });

  test("refuses a dataset of bytes, whatever the deployment file calls it", async () => {
    const before = readFileSync(scripts.deploymentFile, "utf8");
    expect(await scripts.run("DeployWebOracle", ["--broadcast"])).toMatchObject({ exitCode: 0 });
    const { datasets, ...others } = JSON.parse(readFileSync(scripts.deploymentFile, "utf8"));
    datasets.webOracleNumber.address = datasets.webOracleBytes.address;
    writeFileSync(scripts.deploymentFile, JSON.stringify({ ...others, datasets }));
    const refused = deployAdapter("chainlink()", { DATASET: "webOracleNumber", KEY: `WEB/${"1f".repeat(32)}/A-1` });
    await expectRefused(refused, "webOracleNumber stores bytes, and this adapter reads numbers. Set DATASET to a");
    writeFileSync(scripts.deploymentFile, before);
  });

  test("refuses an asset without code that stands for no currency and not for Ether", async () => {
    const ether = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE";
    const env = { ASSETS: `${TOKENS[0]},${ether}`, KEYS: ",SPOTPX/ETH-USD", MAX_AGE: "600" };
    const { output, sent } = await deployAdapter("quotes()", env);
    expect(output).toContain(`asset ${ether}, with 18 decimals: SPOTPX/ETH-USD\n`);
    expect(sent).toBe(1);
    const mistyped = `ASSETS has ${getAddress(OTHER)}, which has no code on this network. Name the token's address`;
    await expectRefused(deployAdapter("quotes()", { ...env, ASSETS: `${TOKENS[0]},${OTHER}` }), mistyped);
  });

  test("refuses a MorphoAdapter of a pair that the QuoteAdapter does not list, or of another contract", async () => {
    const assets = { ASSETS: TOKENS.join(","), KEYS: ",SPOTPX/ETH-USD", MAX_AGE: "600" };
    const quotes = addressIn((await deployAdapter("quotes()", assets)).output);
    const pair = { QUOTES: quotes, COLLATERAL: TOKENS[1], LOAN: TOKENS[0] };
    const refusal = "QUOTES does not quote COLLATERAL in LOAN. Name a QuoteAdapter that lists both tokens.";
    await expectRefused(deployAdapter("morpho()", { ...pair, LOAN: OTHER }), refusal);
    await expectRefused(deployAdapter("morpho()", { ...pair, QUOTES: dataset }), refusal);
  });

  test("refuses assets without keys", async () => {
    const env = { ASSETS: TOKENS.join(","), KEYS: "SPOTPX/ETH-USD", MAX_AGE: "600" };
    await expectRefused(deployAdapter("quotes()", env), "ASSETS and KEYS differ in number. Give each asset one key.");
  });

  const key = { KEY: "SPOTPX/ETH-USD" };
  test.each([
    ["chainlink()", { ...key, DECIMALS: "300" }, "DECIMALS is 300, but values have 18 decimals. Set it to 0 to 18."],
    ["chainlink()", { KEY: "ETH-USD" }, "ETH-USD is not a key of the dataset."],
    ["chainlink()", {}, "KEY is not set. Set it to the key that the adapter reads, for example SPOTPX/ETH-USD."],
    ["pyth()", { EXPONENT: "8" }, "WrongExponent(8)"],
    [
      "quotes()",
      { ASSETS: TOKENS.join(",") },
      "KEYS is not set. Set it to the keys of the assets' prices, separated by",
    ],
    [
      "quotes()",
      { ASSETS: TOKENS.join(","), KEYS: ",SPOTPX/ETH-USD", MAX_AGE: "0" },
      "MAX_AGE is 0: a price would be too old one second after its round. Raise it.",
    ],
    ["morpho()", {}, "QUOTES is not set. Set it to the address of a QuoteAdapter."],
  ] as [string, Record<string, string>, string][])("%s with %j is refused", async (sig, env, message) => {
    await expectRefused(deployAdapter(sig, env), message);
  });

  test.each([
    ["chainlink()", "DECIMALS", "18.0"],
    ["pyth()", "EXPONENT", "-6x"],
    ["pyth()", "CONFIDENCE_BPS", "2%"],
  ])("%s does not take the default for an unreadable %s of %s", async (sig, variable, text) => {
    const { exitCode, output, sent } = await deployAdapter(sig, { ...key, [variable]: text });
    expect(output).toContain(`failed parsing $${variable}`);
    expect([exitCode, sent]).toEqual([1, 0]);
  });

  test("shows every setting of an adapter, and warns of keys that nobody may serve", async () => {
    const listed = await deployAdapter("chainlink()", { ...key, DECIMALS: "6" });
    expect(listed.output).toContain(
      "Settings of ChainlinkAdapter, all fixed for ever:\n    key SPOTPX/ETH-USD\n    decimals 6\n",
    );
    expect(listed.output).not.toContain("is not among the keys");
    const unlisted = await deployAdapter("chainlink()", { KEY: "SPOTPX/ETH-USDT" });
    expect(unlisted.output).toContain("Warning: SPOTPX/ETH-USDT is not among the keys of financial in ");
    expect(unlisted.sent).toBe(1);
    const pyth = await deployAdapter("pyth()", { EXPONENT: "-6", CONFIDENCE_BPS: "200" });
    expect(pyth.output).toContain("exponent -6\n    confidence 200 basis points\n");
    const assets = { ASSETS: TOKENS.join(","), KEYS: ",SPOTPX/ETH-USD", MAX_AGE: "600" };
    const quotes = await deployAdapter("quotes()", assets);
    for (const line of [
      "maximum age 600 seconds",
      `asset ${TOKENS[0]}, with 18 decimals: the common quote`,
      `asset ${getAddress(TOKENS[1])}, with 6 decimals: SPOTPX/ETH-USD`,
    ]) {
      expect(quotes.output).toContain(`    ${line}\n`);
    }
  });

  test("warns that a Web Oracle's values need 18 decimals", async () => {
    const before = readFileSync(scripts.deploymentFile, "utf8");
    expect(await scripts.run("DeployWebOracle", ["--broadcast"])).toMatchObject({ exitCode: 0 });
    const env = { DATASET: "webOracleNumber", KEY: `WEB/${"1f".repeat(32)}/A-1` };
    const { output, sent } = await deployAdapter("chainlink()", env);
    writeFileSync(scripts.deploymentFile, before);
    expect(output).toContain(
      "Warning: adapters read numbers with 18 decimals. Use only keys whose spec has decimals 18.",
    );
    expect(sent).toBe(1);
  });
});

describe("ShareIncome", () => {
  test("pays the committee found on the chain once, whoever sends it", async () => {
    await fill(parseEther("4") + 3n);
    expect(await dryRun("ShareIncome")).toMatchObject({ exitCode: 0, sent: 0 });
    const { exitCode, output, sent } = await send("ShareIncome", {}, OUTSIDER);
    expect(output).toContain("Share 4000000000000000003 wei among the committee's 4 members:");
    expect([exitCode, sent]).toEqual([0, 1]);
    for (const member of MEMBERS) expect(await balance(member)).toBe(parseEther("1"));
    await expectNothingToDo(send("ShareIncome"), "Nothing to share: the committee's income is 3 wei.");

    // Paying accounts that already exist needs less gas than the dataset requires to be left.
    await fill(4n);
    expect(await send("ShareIncome")).toMatchObject({ exitCode: 0, sent: 1 });
    expect(await balance(dataset)).toBe(0n);
  });

  test("pays a former committee what it earned, and leaves the current one its own", async () => {
    await fill(parseEther("4"));
    const { client } = scripts;
    // The gas of the change is estimated on the last block.
    await client.mine({ blocks: 1 });
    const rotation = { abi: datasetAbi, address: dataset, functionName: "setCommittee", chain: null } as const;
    await client.impersonateAccount({ address: OWNER });
    const hash = await client.writeContract({ ...rotation, account: OWNER, args: [[OUTSIDER], 100n] });
    expect((await client.waitForTransactionReceipt({ hash })).status).toBe("success");
    await fill(parseEther("5"));

    const former = { FORMER_MEMBERS: MEMBERS.join(","), FORMER_TOLERANCE_BPS: "100" };
    const { output, sent } = await send("ShareIncome", former);
    expect(output).toContain("Share 4000000000000000000 wei among the committee's 4 members:");
    expect([sent, await balance(dataset)]).toEqual([1, parseEther("1")]);
    for (const member of MEMBERS) expect(await balance(member)).toBe(parseEther("1"));
    await expectNothingToDo(send("ShareIncome", former), "Nothing to share: the committee's income is 0 wei.");
    const incomplete = send("ShareIncome", { FORMER_MEMBERS: former.FORMER_MEMBERS });
    await expectRefused(
      incomplete,
      "FORMER_TOLERANCE_BPS is not set. Set it to the tolerance of FORMER_MEMBERS, in basis",
    );
  });

  test("reports a member that refuses its share", async () => {
    await scripts.client.setCode({ address: MEMBERS[1] as Address, bytecode: "0x5f5ffd" });
    await fill(parseEther("4"));
    const { output, sent } = await send("ShareIncome");
    expect(output).toContain(
      "Some members refuse their shares. Wei that they can claim with claimShares: 1000000000000000000",
    );
    expect([sent, await balance(dataset)]).toEqual([1, parseEther("1")]);
  });

  test("shares although a member pays for a subscription while it is paid", async () => {
    const [price] = await scripts.client.readContract({
      address: dataset,
      abi: datasetAbi,
      functionName: "costOfSubscription",
    });
    const call = encodeFunctionData({ abi: datasetAbi, functionName: "subscribe", args: [OUTSIDER, 2n] });
    // PUSH32 word, PUSH1 offset, MSTORE for each word of the call; then CALL(gas, caller, 2 * price, 0, 68, 0, 0).
    const words = call.slice(2).padEnd(192, "0").match(/.{64}/g) ?? [];
    const stores = words.map((word, i) => `7f${word}60${(32 * i).toString(16).padStart(2, "0")}52`);
    const bytecode: Hex = `0x${stores.join("")}5f5f60445f7f${toHex(2n * price, { size: 32 }).slice(2)}335af100`;
    await scripts.client.setCode({ address: MEMBERS[1] as Address, bytecode });
    // It pays more than what is shared.
    await scripts.client.setBalance({ address: MEMBERS[1] as Address, value: 2n * price });
    await fill(price);
    expect(await send("ShareIncome")).toMatchObject({ exitCode: 0, sent: 1 });
    expect(await balance(dataset)).toBeGreaterThanOrEqual(2n * price);
    await scripts.client.setCode({ address: MEMBERS[1] as Address, bytecode: "0x" });
  });

  test("takes the committee as given where the RPC has no logs, and refuses another one", async () => {
    await recordCommitteeBlock(0n);
    await fill(4n);
    const refusal =
      "The RPC does not have the event of the current committee in block 0. Use one that keeps old logs, or set";
    await expectRefused(send("ShareIncome"), refusal);
    const mismatch =
      "CURRENT_MEMBERS and CURRENT_TOLERANCE_BPS are not the dataset's committee. Correct or unset both.";
    await expectRefused(send("ShareIncome", { ...GIVEN_COMMITTEE, CURRENT_TOLERANCE_BPS: "99" }), mismatch);
    await expectRefused(
      send("ShareIncome", { ...GIVEN_COMMITTEE, CURRENT_MEMBERS: MEMBERS.slice(1).join(",") }),
      mismatch,
    );
    expect(await send("ShareIncome", GIVEN_COMMITTEE)).toMatchObject({ exitCode: 0, sent: 1 });
    expect(await balance(dataset)).toBe(0n);
  });
});

describe("RotateCommittee", () => {
  const [first = OWNER, ...others] = MEMBERS;
  const next = [OUTSIDER, ...others].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
  const ejectionsUnknown = "Warning: the RPC has no old logs, so members that were ejected are not recognized.";

  test("shares the income with the old committee, then installs the one in the settings, once", async () => {
    configure({ members: next, toleranceBps: "50" });
    await fill(parseEther("4"));
    const before = await read("committeeHash");
    expect(await dryRun("RotateCommittee")).toMatchObject({ exitCode: 0, sent: 0 });
    expect([await read("committeeHash"), readFileSync(scripts.deploymentFile, "utf8")]).toEqual([
      before,
      deploymentFile,
    ]);

    const outsiderBalance = await balance(OUTSIDER);
    const { exitCode, output, sent } = await send("RotateCommittee", {}, OWNER);
    expect(output).toContain("Share 4000000000000000000 wei among the committee's 4 members:");
    expect(output).toContain(`leaves ${first}\n    joins  ${OUTSIDER}\n    members 4 -> 4\n`);
    expect(output).toContain("tolerance 100 -> 50 basis points");
    expect(output).not.toContain(ejectionsUnknown);
    expect([exitCode, sent]).toEqual([0, 2]);
    for (const member of MEMBERS) expect(await balance(member)).toBe(parseEther("1"));
    expect(await balance(OUTSIDER)).toBe(outsiderBalance);

    const fromBlock = (await read("committeeBlock")) as bigint;
    const [change] = await scripts.client.getContractEvents({
      address: dataset,
      abi: datasetAbi,
      eventName: "CommitteeChanged",
      fromBlock,
    });
    expect(change?.args).toEqual({ members: next, toleranceBps: 50n });
    expect(listed()).toEqual(change?.args);
    await expectNothingToDo(send("RotateCommittee"), "Nothing to do: the committee and the tolerance are those of ");
    expect(listed()).toEqual(change?.args);
  });

  test("lists the committee in a deployment file that does not have it, and leaves the rest of the file", async () => {
    const before = scripts.deployment();
    const { datasets, ...others } = JSON.parse(readFileSync(scripts.deploymentFile, "utf8"));
    const { members: _members, toleranceBps: _tolerance, ...financial } = datasets.financial;
    writeFileSync(scripts.deploymentFile, JSON.stringify({ ...others, datasets: { ...datasets, financial } }));
    expect(listed()).toBeUndefined();
    await expectNothingToDo(send("RotateCommittee"), "Nothing to do: the committee and the tolerance are those of ");
    const committee = { members: MEMBERS.map((member) => getAddress(member)), toleranceBps: 100n };
    const rest = before.datasets.slice(1);
    expect(scripts.deployment()).toEqual({ ...before, datasets: [{ ...before.datasets[0], committee }, ...rest] });
  });

  test("finds the committee of a second rotation, and needs no income", async () => {
    configure({ members: next });
    expect(await send("RotateCommittee")).toMatchObject({ exitCode: 0, sent: 1 });
    configure({ members: [OUTSIDER] });
    const { output, sent } = await send("RotateCommittee");
    expect(output).toContain("Nothing to share: the committee's income is 0 wei.");
    expect(output).toContain("members 4 -> 1");
    expect(sent).toBe(1);
  });

  test("warns that ejected members are not recognized where the RPC has no logs", async () => {
    // No node has the logs of a block that does not exist yet.
    await recordCommitteeBlock(2n ** 40n - 1n);
    configure({ members: next });
    const { exitCode, output, sent } = await send("RotateCommittee", GIVEN_COMMITTEE);
    expect(output).toContain(ejectionsUnknown);
    expect([exitCode, sent]).toEqual([0, 1]);
  });

  test("keeps the committee when the income cannot be shared", async () => {
    configure({ members: next });
    await fill(parseEther("4"));
    const code = await scripts.client.getCode({ address: dataset });
    const withoutSharing = code?.replace(toFunctionSelector("shareIncome(address[],uint256)").slice(2), "ffffffff");
    expect(withoutSharing).not.toBe(code);
    await scripts.client.setCode({ address: dataset, bytecode: withoutSharing as Hex });
    const { exitCode, output, sent } = await send("RotateCommittee");
    expect(output).toContain("The dataset rejects this call, so nothing was sent.");
    expect([exitCode, sent]).toEqual([1, 0]);
  });

  test("does not seat a member again that was ejected since the settings were written", async () => {
    const { client } = scripts;
    const members = [OUTSIDER as Address, ...MEMBERS].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
    configure({ members });
    expect(await send("RotateCommittee")).toMatchObject({ exitCode: 0, sent: 1 });
    const round = (await client.getBlock()).timestamp + 1n;
    const report = { chainId: 42, dataset, key: stringToHex("SPOTPX/ETH-USD"), round, outcome: "OK" } as const;
    const [accused] = PROVIDERS as readonly [Account];
    const sign = async (number: number) => {
      const statement = { ...report, value: toHex(number, { size: 32 }) };
      return { ...statement, signature: await signReport(privateKeyToAccount(accused.privateKey), statement) };
    };
    const committee = { members, toleranceBps: 100n };
    const data = encodeAccusation(report, await sign(1), await sign(2), committee);
    const hash = await client.sendTransaction({ account: OUTSIDER, to: dataset, data, gas: 200_000n, chain: null });
    expect(await client.waitForTransactionReceipt({ hash })).toMatchObject({ status: "success" });

    const refusal = "was ejected because it signed two conflicting statements. Remove it from financial.members in ";
    await expectRefused(send("RotateCommittee"), `${accused.address} ${refusal}`);
    configure({ members: members.filter((member) => member !== accused.address) });
    await expectNothingToDo(send("RotateCommittee"), "Nothing to do: the committee and the tolerance are those of ");
    configure({ members: members.filter((member) => member !== accused.address), toleranceBps: "50" });
    expect(await send("RotateCommittee")).toMatchObject({ exitCode: 0, sent: 1 });
  });

  test("refuses an invalid committee", async () => {
    configure({ members: [...next].reverse() });
    await expectRefused(send("RotateCommittee"), "Sort them ascending, each one once.");
  });
});

describe("the ownership", () => {
  test("is transferred in two steps, each of them once", async () => {
    configure({ owner: OUTSIDER });
    await expectRefused(
      send("AcceptOwnership", {}, OUTSIDER),
      `owner is ${OUTSIDER}, to which the ownership was not offered. Run`,
    );
    const { output, sent } = await send("TransferOwnership");
    expect(output).toContain(`Offer the ownership: ${OWNER} -> ${OUTSIDER}`);
    expect([sent, await read("owner"), await read("pendingOwner")]).toEqual([1, OWNER, OUTSIDER]);
    await expectNothingToDo(
      send("TransferOwnership"),
      `Nothing to do: the ownership is already offered to ${OUTSIDER}`,
    );

    await expectRefused(send("AcceptOwnership"), `The new owner is ${OUTSIDER}, not the sender. Sign with its key.`);
    const accepted = await send("AcceptOwnership", {}, OUTSIDER);
    expect(accepted.output).toContain(`Accept the ownership: ${OWNER} -> ${OUTSIDER}`);
    expect([accepted.sent, await read("owner")]).toEqual([1, OUTSIDER]);
    await expectNothingToDo(send("AcceptOwnership", {}, OUTSIDER), `Nothing to do: the owner is ${OUTSIDER}.`);
    await expectNothingToDo(send("TransferOwnership", {}, OUTSIDER), `Nothing to do: the owner is ${OUTSIDER}.`);
  });

  test("is kept when the settings name the old owner again before the transfer", async () => {
    configure({ owner: OUTSIDER });
    expect(await send("TransferOwnership")).toMatchObject({ exitCode: 0, sent: 1 });
    configure({});
    const { output } = await send("TransferOwnership");
    expect(output).toContain(`Withdraw the offer to ${OUTSIDER}`);
    expect(BigInt((await read("pendingOwner")) as Hex)).toBe(0n);
  });
});

describe("an owner that is a contract", () => {
  test("accepts, and rotates the committee, with the calls that the scripts print and do not send", async () => {
    await giveToMultisig();
    configure({ owner: MULTISIG, members: [OUTSIDER] });
    await fill(parseEther("4"));
    const before = await read("committeeHash");
    const { exitCode, output, sent } = await send("RotateCommittee");
    expect(output).toContain(`Not sent. The owner is a contract, which has to make this call: ${MULTISIG}`);
    expect([exitCode, sent, await read("committeeHash")]).toEqual([0, 0, before]);
    expect(readFileSync(scripts.deploymentFile, "utf8")).toBe(deploymentFile);

    const calls = printedCalls(output);
    expect(calls).toHaveLength(2);
    await makeAsMultisig(calls);
    for (const member of MEMBERS) expect(await balance(member)).toBe(parseEther("1"));
    await expectNothingToDo(send("RotateCommittee"), "Nothing to do: the committee and the tolerance are those of ");
    expect(listed()?.members).toEqual([OUTSIDER]);
  });
});
