import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { committeeDirectoryAbi } from "@dataset-oracle/protocol/abi/committee-directory";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { verifiedLensAbi } from "@dataset-oracle/protocol/abi/verified-lens";
import { COMMITTEE_DIRECTORY, WEB_ORACLE_REGISTRY } from "@dataset-oracle/protocol/fixed-addresses";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { type Address, encodeFunctionData, getAddress, type Hex, parseAbi, parseEther, parseGwei } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OWNER, type ScriptRunner, startScriptRunner } from "./script-runner.js";
import { settingsOf } from "./script-settings.js";

/*
 * Each script once, as its users run it. What a script does with any other input is tested by forge: test/script.
 */

/** An unlocked account that is neither the owner nor a member of the deployed datasets. */
const OUTSIDER = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

/** Stands in for a multisig: an owner with code, which makes calls when it is impersonated. */
const MULTISIG = getAddress("0x5afe000000000000000000000000000000000001");

const SETTINGS = settingsOf(42);
const MEMBERS = SETTINGS.financial.members as Address[];

let scripts: ScriptRunner;
let dataset: Address;

const configure = (changes: object) =>
  scripts.configure({ ...SETTINGS, financial: { ...SETTINGS.financial, ...changes } });
const broadcast = (name: string, env: Record<string, string> = {}, sender?: Address) =>
  scripts.run(name, ["--broadcast"], { DATASET: "financial", ...env }, sender);
const read = (functionName: "queryPrice" | "owner" | "pendingOwner" | "committeeBlock" | "costOfSubscription") =>
  scripts.client.readContract({ address: dataset, abi: datasetAbi, functionName });
const listed = () => scripts.deployment().datasets[0]?.committee;

/** Returns the calls that a script printed for another account to make. */
const printedCalls = (output: string) =>
  [...output.matchAll(/^ +to +(0x[0-9a-fA-F]{40})\n +data (0x[0-9a-f]+)$/gm)].map(([, to, data]) => ({ to, data }));

/** Makes the calls as the multisig. */
async function makeAsMultisig(output: string): Promise<void> {
  const { client } = scripts;
  await client.setBalance({ address: MULTISIG, value: parseEther("1") });
  await client.impersonateAccount({ address: MULTISIG });
  for (const { to, data } of printedCalls(output)) {
    const params = { account: MULTISIG, to: to as Address, data: data as Hex, chain: null } as const;
    const receipt = await client.waitForTransactionReceipt({ hash: await client.sendTransaction(params) });
    expect(receipt.status).toBe("success");
  }
}

describe("the scripts, one after the other on a chain with the oldest EVM that the contracts run on", () => {
  beforeAll(async () => {
    scripts = await startScriptRunner(42, { hardfork: "cancun" });
    configure({});
  });
  afterAll(() => scripts.close());

  test("a dry run of a deployment shows every setting, those that are fixed for ever apart", async () => {
    configure({ priceCeiling: "0.01 ether" });
    const { exitCode, output, sent } = await scripts.run("DeployFinancialDataset");
    configure({});
    const lines = output.split("\n").map((line) => line.trim());
    const first = lines.indexOf("Settings of financial, fixed for ever:");
    expect(lines.slice(first, first + 14)).toEqual([
      "Settings of financial, fixed for ever:",
      "key form SPOT_PRICE",
      "maxRoundAge 300 seconds",
      "priceCeiling 10000000000000000 wei",
      "subscriptionPriceCeiling 1000000000000000000 wei",
      "Settings of financial that its owner can change:",
      `owner ${OWNER}`,
      ...MEMBERS.map((member) => `member ${member}`),
      "toleranceBps 100",
      "queryPrice 1000000000000000 wei",
      "subscriptionPrice 100000000000000000 wei",
    ]);
    expect(output).toContain("This was a dry run: nothing was sent or written.");
    expect([exitCode, sent, existsSync(scripts.deploymentFile)]).toEqual([0, 0, false]);
  });

  test("a bad setting ends the command with a sentence, and nothing is sent or written", async () => {
    configure({ queryPrice: "10000000000000001" });
    const { exitCode, lastLine, sent } = await broadcast("DeployFinancialDataset");
    configure({});
    expect(lastLine).toContain("settings.json: financial.queryPrice is above priceCeiling. Lower it.");
    expect([exitCode, sent, existsSync(scripts.deploymentFile)]).toEqual([1, 0, false]);
  });

  test("DeployFinancialDataset and DeployWebOracle deploy the code that the tests run, and list it", async () => {
    expect(await broadcast("DeployFinancialDataset")).toMatchObject({ exitCode: 0, sent: 1 });
    expect(await broadcast("DeployWebOracle")).toMatchObject({ exitCode: 0, sent: 3 });
    const { chainId, datasets, webOracleRegistry } = scripts.deployment();
    expect([chainId, webOracleRegistry]).toEqual([42, WEB_ORACLE_REGISTRY]);
    expect(datasets).toMatchObject([
      { name: "financial", kind: "median", keyForm: "SPOT_PRICE" },
      { name: "webOracleNumber", kind: "median", keyForm: "WEB_ORACLE" },
      { name: "webOracleBytes", kind: "majority", keyForm: "WEB_ORACLE" },
    ]);
    const { client } = scripts;
    const last = Number(await client.getBlockNumber());
    const blocks = await Promise.all(
      Array.from({ length: last + 1 }, (_, number) =>
        client.getBlock({ blockNumber: BigInt(number), includeTransactions: true }),
      ),
    );
    const inputs = blocks.flatMap(({ transactions }) => transactions.map(({ input }) => input));
    for (const name of ["MedianDataset", "MajorityDataset"]) {
      const { bytecode } = JSON.parse(readFileSync(join(ROOT, `out/${name}.sol/${name}.json`), "utf8"));
      expect(inputs.some((code) => code.startsWith(bytecode.object))).toBe(true);
    }
    expect(await client.getCode({ address: WEB_ORACLE_REGISTRY })).toMatch(/^0x[0-9a-f]{100,}$/);
    dataset = datasets[0]?.address as Address;
  });

  test("DeployVerifiedLens and DeployCommitteeDirectory deploy what they list", async () => {
    const [get, post] = ["https://one.example/data/gateway/1/{sender}/{data}", "https://two.example/data/gateway/1"];
    const lens = await broadcast("DeployVerifiedLens", { GATEWAYS: `${get},${post}` });
    expect(lens.output).toContain(`all fixed for ever:\n    gateway ${get}\n    gateway ${post}\n`);
    expect([lens.exitCode, lens.sent]).toEqual([0, 1]);
    expect(await broadcast("DeployCommitteeDirectory")).toMatchObject({ exitCode: 0, sent: 1 });
    const { committeeDirectory, verifiedLens } = scripts.deployment();
    expect(committeeDirectory).toBe(COMMITTEE_DIRECTORY);
    const { client } = scripts;
    const gateways = { address: verifiedLens as Address, abi: verifiedLensAbi, functionName: "gateways" } as const;
    expect(await client.readContract(gateways)).toEqual([get, post]);
    const directory = { address: COMMITTEE_DIRECTORY, abi: committeeDirectoryAbi } as const;
    expect(await client.readContract({ ...directory, functionName: "announcementOf", args: [OWNER] })).toEqual([
      "",
      0n,
    ]);
  });

  test("a deployment a second time deploys nothing, and says so", async () => {
    const before = readFileSync(scripts.deploymentFile, "utf8");
    const { exitCode, output, sent } = await broadcast("DeployWebOracle");
    for (const name of ["webOracleNumber", "webOracleBytes", "webOracleRegistry"]) {
      expect(output).toContain(`${name} exists already, so nothing was deployed: 0x`);
    }
    expect([exitCode, sent, readFileSync(scripts.deploymentFile, "utf8")]).toEqual([0, 0, before]);
  });

  test.each(["provider", "operator"])("the %s accepts a configuration that names the file", (service) => {
    const providers = [{ address: MEMBERS[0], url: "http://127.0.0.1:2" }];
    const network = { deployment: scripts.deploymentFile, rpcUrls: ["http://127.0.0.1:1"], providers };
    const isProvider = service === "provider";
    const config = join(dirname(scripts.deploymentFile), `${service}.json`);
    const content = isProvider ? { deployments: [scripts.deploymentFile], lease: "lease" } : { networks: [network] };
    writeFileSync(config, JSON.stringify(content));
    const args = isProvider ? ["check", "--config", config] : ["--config", config, "--check-config"];
    const key = `0x${"11".repeat(32)}`;
    const output = execFileSync(process.execPath, [join(ROOT, service, "dist/main.js"), ...args], {
      env: { PROVIDER_PRIVATE_KEY: key, OPERATOR_PRIVATE_KEY: key },
      timeout: 60_000,
    });
    expect(output.toString()).toContain("is valid.");
  });

  test("SetQueryPrice and SetSubscriptionPrice show the change before they make it", async () => {
    configure({ queryPrice: "2000000000000000", subscriptionPrice: "200000000000000000" });
    const change = "Set the query price: 1000000000000000 -> 2000000000000000 wei";
    const dry = await scripts.run("SetQueryPrice", [], { DATASET: "financial" });
    expect(dry.output).toContain(change);
    expect([dry.exitCode, dry.sent, await read("queryPrice")]).toEqual([0, 0, 1_000_000_000_000_000n]);
    const { exitCode, output, sent } = await broadcast("SetQueryPrice");
    expect(output).toContain(change);
    const data = encodeFunctionData({ abi: datasetAbi, functionName: "setQueryPrice", args: [2_000_000_000_000_000n] });
    expect(printedCalls(output)).toEqual([{ to: dataset, data }]);
    expect([exitCode, sent, await read("queryPrice")]).toEqual([0, 1, 2_000_000_000_000_000n]);

    const subscription = await broadcast("SetSubscriptionPrice");
    expect(subscription.output).toContain("Set the subscription price: 100000000000000000 -> 200000000000000000 wei");
    expect([subscription.exitCode, subscription.sent]).toEqual([0, 1]);
    expect(await read("costOfSubscription")).toMatchObject([parseEther("0.2"), 2_592_000n, parseEther("1")]);
  });

  test("DeployAdapter deploys an adapter, which answers once Subscribe has paid for it", async () => {
    const args = ["--broadcast", "--sig", "chainlink()"];
    const { output } = await scripts.run("DeployAdapter", args, { DATASET: "financial", KEY: "SPOTPX/ETH-USD" });
    expect(output).toContain(
      "Settings of ChainlinkAdapter, all fixed for ever:\n    key SPOTPX/ETH-USD\n    decimals 8\n",
    );
    const address = output.match(/^ *Deploy ChainlinkAdapter at (0x[0-9a-fA-F]{40})$/m)?.[1] as Address;
    const abi = parseAbi(["function latestRoundData() view returns (uint80, int256, uint256, uint256, uint80)"]);
    const answer = () =>
      scripts.client.readContract({ address, abi, functionName: "latestRoundData", account: OUTSIDER });
    await expect(answer()).rejects.not.toThrow("No data present");
    const { exitCode, output: paid, sent } = await broadcast("Subscribe", { READER: address, DAYS: "31" }, OUTSIDER);
    expect(paid).toContain(`Subscribe ${address} for 60 days: 400000000000000000 wei`);
    expect([exitCode, sent]).toEqual([0, 1]);
    await expect(answer()).rejects.toThrow("No data present");
  });

  test("ShareIncome reads the chain as it is, not another that had the same block", async () => {
    const { client } = scripts;
    const timestamp = (await client.getBlock()).timestamp + 60n;
    for (const income of [parseEther("4"), parseEther("8")]) {
      const id = await client.snapshot();
      await client.setBalance({ address: dataset, value: income });
      await client.setNextBlockTimestamp({ timestamp });
      await client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei("1") });
      const { output } = await scripts.run("ShareIncome", [], { DATASET: "financial" });
      expect(output).toContain(`Share ${income} wei among the committee's 4 members:`);
      await client.revert({ id });
    }
  });

  test("ShareIncome pays the committee that it finds in the chain's logs, whoever sends it", async () => {
    const { client } = scripts;
    await client.setBalance({ address: dataset, value: parseEther("4") });
    await client.setCode({ address: MEMBERS[1] as Address, bytecode: "0x5f5ffd" });
    const { exitCode, output, sent } = await broadcast("ShareIncome", {}, OUTSIDER);
    expect(output).toContain(
      "Some members refuse their shares. Wei that they can claim with claimShares: 1000000000000000000",
    );
    expect([exitCode, sent]).toEqual([0, 1]);
    expect(await client.getBalance({ address: MEMBERS[0] as Address })).toBe(parseEther("1"));
  });

  test("RotateCommittee shares the income, installs the committee, and lists it", async () => {
    const members = [OUTSIDER, ...MEMBERS.slice(1)].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
    configure({ members, toleranceBps: "50" });
    await scripts.client.setBalance({ address: dataset, value: parseEther("5") });
    const { exitCode, output, sent } = await broadcast("RotateCommittee");
    expect(output).toContain("Share 4000000000000000000 wei among the committee's 4 members:");
    expect(output).toContain(`leaves ${MEMBERS[0]}\n    joins  ${OUTSIDER}\n    members 4 -> 4\n`);
    expect(output).toContain("tolerance 100 -> 50 basis points");
    expect(output).not.toContain("Warning: the RPC has no old logs");
    expect([exitCode, sent]).toEqual([0, 2]);
    const fromBlock = (await read("committeeBlock")) as bigint;
    const event = { address: dataset, abi: datasetAbi, eventName: "CommitteeChanged", fromBlock } as const;
    const [change] = await scripts.client.getContractEvents(event);
    expect(change?.args).toEqual({ members, toleranceBps: 50n });
    expect(listed()).toEqual(change?.args);
  });

  test("TransferOwnership and AcceptOwnership print the calls that a multisig has to make, and send none", async () => {
    await scripts.client.setCode({ address: MULTISIG, bytecode: "0x00" });
    configure({ owner: MULTISIG });
    const offer = await broadcast("TransferOwnership");
    expect(offer.output).toContain(`Offer the ownership: ${OWNER} -> ${MULTISIG}`);
    expect([offer.sent, await read("pendingOwner")]).toEqual([1, MULTISIG]);
    const { exitCode, output, sent } = await broadcast("AcceptOwnership");
    expect(output).toContain(`Not sent. The new owner is a contract, which has to make this call: ${MULTISIG}`);
    expect([exitCode, sent, await read("owner")]).toEqual([0, 0, OWNER]);
    await makeAsMultisig(output);
    expect(await read("owner")).toBe(MULTISIG);

    configure({ owner: MULTISIG, members: [OUTSIDER] });
    await makeAsMultisig((await broadcast("RotateCommittee")).output);
    const again = await broadcast("RotateCommittee");
    expect(again.output).toContain("Nothing to do: the committee and the tolerance are those of ");
    expect([again.sent, listed()?.members]).toEqual([0, [OUTSIDER]]);
  });
});

describe("on a chain with an older EVM", () => {
  beforeAll(async () => {
    scripts = await startScriptRunner(42, { hardfork: "shanghai" });
    configure({});
  });
  afterAll(() => scripts.close());

  test("a deployment is refused, with the RPC's error", async () => {
    const { exitCode, lastLine, sent } = await broadcast("DeployFinancialDataset");
    expect(lastLine).toContain("The network's EVM is older than Cancun, so the contracts would fail,");
    expect(lastLine).toMatch(/Deploy to a network that has Cancun, .* The RPC's error: .*NotActivated/);
    expect([exitCode, sent, existsSync(scripts.deploymentFile)]).toEqual([1, 0, false]);
  });
});
