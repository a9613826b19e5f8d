import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { deriveAccount, OWNER } from "@dataset-oracle/devnet/accounts";
import { startAnvil } from "@dataset-oracle/devnet/anvil";
import { clientOf } from "@dataset-oracle/devnet/test-support/chain-client";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { loadDeployment } from "@dataset-oracle/service/config/deployment";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { type Address, encodeFunctionData, getAddress, type Hex, parseEther } from "viem";
import { expect, onTestFinished, test } from "vitest";

/*
 * What only a chain shows of the scripts, run as their users run them. What they do with any input is tested by forge:
 * test/script. The devnet deploys with them, too.
 */

/** An unlocked account that is neither the owner nor a member of the deployed datasets. */
const OUTSIDER = deriveAccount(1).address;

/** Stands in for a multisig: an owner with code, which makes calls when it is impersonated. */
const MULTISIG = getAddress("0x5afe000000000000000000000000000000000001");

const SETTINGS = JSON.parse(readFileSync(join(ROOT, "script/config/42.json"), "utf8"));
const MEMBERS: readonly Address[] = SETTINGS.webOracleNumber.members;

/** Starts a chain with an EVM. Returns a way to run scripts on it as in a shell, with files of the test's own. */
async function startScriptRunner(hardfork: string) {
  // forge may write only below deployments/.
  const folder = mkdtempSync(join(ROOT, "deployments", "test-"));
  const chain = await startAnvil({ hardfork, blockTime: null });
  onTestFinished(async () => {
    await chain.close();
    rmSync(folder, { recursive: true });
  });
  const client = clientOf(chain.url);
  const deploymentFile = join(folder, "42.json");
  const env = {
    ...process.env,
    ETH_RPC_URL: chain.url,
    DATASET: "webOracleNumber",
    DEPLOY_CONFIG: join(folder, "settings.json"),
    DEPLOYMENTS_DIR: relative(ROOT, folder),
    FOUNDRY_BROADCAST: join(folder, "broadcast"),
  };
  /** Runs script/<name>.s.sol; `changes` are of the dataset's settings. */
  async function run(name: string, changes: object = {}, ...args: string[]) {
    const webOracleNumber = { ...SETTINGS.webOracleNumber, ...changes };
    writeFileSync(env.DEPLOY_CONFIG, JSON.stringify({ ...SETTINGS, webOracleNumber }));
    // What `npm run forge` runs.
    const command = ["tools/foundry.js", "forge", "script", `script/${name}.s.sol`];
    command.push("--unlocked", "--sender", OWNER.address);
    // forge reads the state of the last block, so that changes by a test must be mined first.
    await client.mine({ blocks: 1 });
    const before = await client.getTransactionCount(OWNER);
    const ended = promisify(execFile)(process.execPath, [...command, ...args], { cwd: ROOT, env });
    const { stdout, stderr, code = 0 } = await ended.catch((error) => error);
    const sent = (await client.getTransactionCount(OWNER)) - before;
    return { code, sent, output: stdout as string, lastLine: (stderr as string).trimEnd().split("\n").at(-1) };
  }
  return { client, run, deploymentFile, deployment: () => loadDeployment(deploymentFile) };
}

test("a dataset is deployed, governed and handed over on a chain with the oldest EVM that it runs on", async () => {
  const { client, run, deploymentFile, deployment } = await startScriptRunner("cancun");
  const dry = await run("DeployWebOracle", { priceCeiling: "0.01 ether" });
  const lines = dry.output.split("\n").map((line) => line.trim());
  const first = lines.indexOf("Settings of webOracleNumber, fixed for ever:");
  expect(lines.slice(first, first + 14)).toEqual([
    "Settings of webOracleNumber, fixed for ever:",
    "key form WEB_ORACLE",
    "maxRoundAge 300 seconds",
    "priceCeiling 10000000000000000 wei",
    "subscriptionPriceCeiling 1000000000000000000 wei",
    "Settings of webOracleNumber that its owner can change:",
    `owner ${OWNER.address}`,
    ...MEMBERS.map((member) => `member ${member}`),
    "toleranceBps 100",
    "queryPrice 1000000000000000 wei",
    "subscriptionPrice 100000000000000000 wei",
  ]);
  expect(dry.output).toContain("This was a dry run: nothing was sent or written.");
  expect([dry.code, dry.sent, existsSync(deploymentFile)]).toEqual([0, 0, false]);

  expect(await run("DeployWebOracle", {}, "--broadcast")).toMatchObject({ code: 0, sent: 3 });
  const blocks = Array.from({ length: Number(await client.getBlockNumber()) + 1 }, (_, number) =>
    client.getBlock({ blockNumber: BigInt(number), includeTransactions: true }),
  );
  const inputs = (await Promise.all(blocks)).flatMap(({ transactions }) => transactions.map(({ input }) => input));
  for (const name of ["MedianDataset", "MajorityDataset"]) {
    const { bytecode } = JSON.parse(readFileSync(join(ROOT, `out/${name}.sol/${name}.json`), "utf8"));
    expect(inputs.some((code) => code.startsWith(bytecode.object))).toBe(true);
  }
  const address = deployment().datasets[0]?.address as Address;
  const read = <T extends "queryPrice" | "owner" | "committeeBlock">(functionName: T) =>
    client.readContract({ address, abi: datasetAbi, functionName });

  const priced = await run("SetQueryPrice", { queryPrice: "2000000000000000" }, "--broadcast");
  expect(priced.output).toContain("Set the query price: 1000000000000000 -> 2000000000000000 wei");
  const data = encodeFunctionData({ abi: datasetAbi, functionName: "setQueryPrice", args: [2_000_000_000_000_000n] });
  expect(priced.output).toContain(`to   ${address}\n    data ${data}\n`);
  expect([priced.code, priced.sent, await read("queryPrice")]).toEqual([0, 1, 2_000_000_000_000_000n]);

  // It finds the old committee in the chain's logs.
  await client.setBalance({ address, value: parseEther("5") });
  const members = [OUTSIDER, ...MEMBERS.slice(1)].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
  const rotated = await run("RotateCommittee", { members, toleranceBps: "50" }, "--broadcast");
  expect(rotated.output).toContain("Share 5000000000000000000 wei among the committee's 4 members:");
  expect(rotated.output).toContain(`leaves ${MEMBERS[0]}\n    joins  ${OUTSIDER}\n    members 4 -> 4\n`);
  expect(rotated.output).toContain("tolerance 100 -> 50 basis points");
  expect([rotated.code, rotated.sent]).toEqual([0, 2]);
  const event = { address, abi: datasetAbi, eventName: "CommitteeChanged" } as const;
  const [change] = await client.getContractEvents({ ...event, fromBlock: await read("committeeBlock") });
  expect(change?.args).toEqual({ members, toleranceBps: 50n });
  expect(deployment().datasets[0]?.committee).toEqual(change?.args);

  await client.setCode({ address: MULTISIG, bytecode: "0x00" });
  const offered = await run("TransferOwnership", { owner: MULTISIG }, "--broadcast");
  expect(offered.output).toContain(`Offer the ownership: ${OWNER.address} -> ${MULTISIG}`);
  const accepted = await run("AcceptOwnership", { owner: MULTISIG }, "--broadcast");
  const reason = `Not sent. The new owner is a contract, which has to make this call: ${MULTISIG}`;
  expect(accepted.output).toContain(reason);
  expect([accepted.code, accepted.sent, await read("owner")]).toEqual([0, 0, OWNER.address]);
  const [, to, call] = /^ +to +(0x[0-9a-fA-F]{40})\n +data (0x[0-9a-f]+)$/m.exec(accepted.output) ?? [];
  await client.setBalance({ address: MULTISIG, value: parseEther("1") });
  await client.impersonateAccount({ address: MULTISIG });
  await client.sendTransaction({ account: MULTISIG, to: to as Address, data: call as Hex, chain: null });
  await expect.poll(() => read("owner")).toBe(MULTISIG);
});

test("a deployment on a chain with an older EVM is refused with a sentence that has the RPC's error", async () => {
  const { run, deploymentFile } = await startScriptRunner("shanghai");
  const { code, sent, lastLine } = await run("DeployFinancialDataset", {}, "--broadcast");
  expect(lastLine).toContain("The network's EVM is older than Cancun, so the contracts would fail,");
  expect(lastLine).toMatch(/Deploy to a network that has Cancun, .* The RPC's error: .*NotActivated/);
  expect([code, sent, existsSync(deploymentFile)]).toEqual([1, 0, false]);
});
