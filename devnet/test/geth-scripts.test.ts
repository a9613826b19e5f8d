import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { deployTestDataset } from "@dataset-oracle/devnet/test-support/deploy-test-contracts";
import {
  GETH_ACCOUNT,
  GETH_CHAIN_ID,
  type GethRules,
  isGethCompiled,
  startGeth,
} from "@dataset-oracle/devnet/test-support/geth";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { committeeHash } from "@dataset-oracle/protocol/committee-hash";
import { encodeUpdate } from "@dataset-oracle/protocol/encode-update";
import { signReport } from "@dataset-oracle/protocol/report";
import { loadDeployment } from "@dataset-oracle/service/config/deployment";
import { foundryBinary, foundryEnv } from "@dataset-oracle/tools/foundry";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import {
  type Address,
  concatHex,
  createWalletClient,
  getAddress,
  type Hex,
  http,
  isAddressEqual,
  numberToHex,
  parseAbi,
  parseEther,
  publicActions,
  type SignedAuthorization,
  stringToHex,
} from "viem";
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { describe, expect, onTestFinished, test } from "vitest";

/*
 * The scripts of script/ on geth, as script/README.md runs them: under the rules of Amsterdam, where forge's own figures
 * are too low by far, and under those that geth's development chain has by itself. `npm run geth` compiles geth.
 */

/** Above it, a transaction has a reserve for state under the rules of Amsterdam (EIP-8037), which calls share. */
const MAX_EXECUTION_GAS = 2n ** 24n;

/** Blocks of 12 s take minutes, so only the weekly run waits for them, by `--mode long`. */
const AMSTERDAM_BLOCKS = process.env.MODE === "long" ? [1, 12] : [1];

const emptyAccount = () => privateKeyToAddress(generatePrivateKey());
const ascending = (members: readonly Address[]) => members.toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));

async function startChain(rules: GethRules, blockSeconds: number) {
  const geth = await startGeth({ rules, blockSeconds });
  onTestFinished(() => geth.close());
  const client = createWalletClient({ account: GETH_ACCOUNT, transport: http(geth.url), pollingInterval: 100 }).extend(
    publicActions,
  );
  async function send(transaction: {
    to?: Address;
    data?: Hex;
    value?: bigint;
    gas?: bigint;
    authorizationList?: readonly SignedAuthorization[];
  }) {
    const hash = await client.sendTransaction({ ...transaction, chain: null } as never);
    return client.waitForTransactionReceipt({ hash, timeout: 60_000 });
  }
  /** Deploys a contract without a constructor. */
  async function deployCode(code: Hex): Promise<Address> {
    const size = (code.length - 2) / 2;
    const { contractAddress } = await send({ data: concatHex([`0x60${hexByte(size)}80600a5f395ff3`, "0x00", code]) });
    return getAddress(contractAddress as Address);
  }
  /** Forces Ether into an account, which takes none: a contract that is destroyed as it is created sends it. */
  const force = (account: Address, value: bigint) => send({ data: concatHex(["0x73", account, "0xff"]), value });
  /** Returns an account that runs the code of a contract. */
  async function delegate(contractAddress: Address): Promise<Address> {
    const account = privateKeyToAccount(generatePrivateKey());
    const authorization = await account.signAuthorization({ chainId: GETH_CHAIN_ID, contractAddress, nonce: 0 });
    await send({ to: GETH_ACCOUNT, authorizationList: [authorization] });
    return account.address;
  }
  return { ...geth, client, send, deployCode, force, delegate };
}

const hexByte = (number: number) => number.toString(16).padStart(2, "0");

type GethChain = Awaited<ReturnType<typeof startChain>>;

/** Returns a way to run scripts on a chain as in a shell, with files of the test's own. */
function scriptsOn(chain: GethChain) {
  // forge may write only below deployments/.
  const folder = mkdtempSync(join(ROOT, "deployments", "test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const settings = JSON.parse(readFileSync(join(ROOT, "script/config/42.json"), "utf8"));
  const names = ["financial", "webOracleNumber", "webOracleBytes"];
  for (const name of names) Object.assign(settings[name], { owner: GETH_ACCOUNT });
  const configure = (changes: object) => {
    Object.assign(settings.financial, changes);
    writeFileSync(join(folder, "settings.json"), JSON.stringify({ ...settings, chainId: GETH_CHAIN_ID }));
  };
  configure({ members: ascending(Array.from({ length: 4 }, emptyAccount)) });
  const start = (name: string, variables: Record<string, string> = {}, ...args: string[]) => {
    const command = ["tools/foundry.js", "forge", "script", `script/${name}.s.sol`, "--rpc-url", chain.url, ...args];
    return promisify(execFile)(process.execPath, [...command, "--unlocked", "--sender", GETH_ACCOUNT, "--broadcast"], {
      cwd: ROOT,
      env: {
        ...process.env,
        DATASET: "financial",
        DEPLOY_CONFIG: join(folder, "settings.json"),
        DEPLOYMENTS_DIR: relative(ROOT, folder),
        FOUNDRY_BROADCAST: join(folder, "broadcast"),
        ...variables,
      },
    });
  };
  const deploymentFile = join(folder, `${GETH_CHAIN_ID}.json`);
  return {
    folder,
    configure,
    start,
    run: async (...args: Parameters<typeof start>) => (await start(...args)).stdout,
    deploymentFile,
    deployment: () => loadDeployment(deploymentFile),
    dataset: () => loadDeployment(deploymentFile).datasets.find(({ name }) => name === "financial"),
  };
}

describe.skipIf(!isGethCompiled())("the scripts on geth", () => {
  test.each([...AMSTERDAM_BLOCKS.map((seconds) => ["amsterdam", seconds] as const), ["dev", 1] as const])(
    "deploy and govern under the rules %s with blocks of %i s",
    { timeout: 900_000 },
    async (rules, seconds) => {
      const chain = await startChain(rules, seconds);
      const { configure, run, deployment, dataset } = scriptsOn(chain);
      const nonce = () => chain.client.getTransactionCount({ address: GETH_ACCOUNT });
      const deploy = async () => {
        await run("DeployFinancialDataset");
        await run("DeployWebOracle");
        await run("DeployCommitteeDirectory");
        await run("DeployVerifiedLens", { GATEWAYS: "http://127.0.0.1/gateway/{sender}/{data}" });
      };
      await deploy();
      const sent = await nonce();
      await deploy();
      expect(await nonce()).toBe(sent);
      const { datasets, chainId: _, ...contracts } = deployment();
      const deployed = [...datasets.map(({ address }) => address), ...Object.values(contracts)];
      expect(deployed).toHaveLength(6);
      for (const address of deployed) expect(await chain.client.getCode({ address })).toMatch(/^0x60/);

      const address = dataset()?.address as Address;
      const read = { address, abi: datasetAbi } as const;
      configure({ queryPrice: "2000", subscriptionPrice: "3000" });
      await run("SetQueryPrice");
      await run("SetSubscriptionPrice");
      expect(await chain.client.readContract({ ...read, functionName: "queryPrice" })).toBe(2_000n);
      const adapter = await run("DeployAdapter", { KEY: "SPOTPX/ETH-USD" }, "--sig", "chainlink()");
      const reader = /Deploy ChainlinkAdapter at (0x\w{40})/.exec(adapter)?.[1] as Address;
      expect(await chain.client.getCode({ address: reader })).toMatch(/^0x60/);
      await run("Subscribe", { READER: reader, DAYS: "40" });
      await run("DeployExampleConsumer", { ORACLE: address });

      // Members of the old committee do not exist yet, and then one does and another one refuses its share.
      const old = dataset()?.committee?.members as readonly Address[];
      const members = ascending([emptyAccount(), await chain.deployCode("0x5f5ffd"), GETH_ACCOUNT, emptyAccount()]);
      configure({ members });
      await run("RotateCommittee");
      for (const member of old) expect(await chain.client.getBalance({ address: member })).toBe(1_500n);
      expect(dataset()?.committee?.members).toEqual(members);
      const hash = committeeHash({ members, toleranceBps: 100n });
      expect(await chain.client.readContract({ ...read, functionName: "committeeHash" })).toBe(hash);
      await chain.force(address, parseEther("4"));
      expect(await run("ShareIncome")).toContain("Some members refuse their shares.");
      expect(await chain.client.getBalance({ address })).toBe(parseEther("1"));

      configure({ owner: emptyAccount() });
      expect(await run("TransferOwnership")).toContain("Offer the ownership");
      configure({ owner: GETH_ACCOUNT });
      expect(await run("AcceptOwnership")).toContain("Nothing to do");
    },
  );

  test.each([
    ["amsterdam", "after"],
    ["dev", "before"],
  ] as const)(
    "finish a deployment that was killed, under the rules %s, %s it recorded what it sent",
    {
      timeout: 300_000,
    },
    async (rules, moment) => {
      const chain = await startChain(rules, 6);
      const { folder, start, run, deploymentFile, deployment } = scriptsOn(chain);
      const record = join(folder, "broadcast/DeployWebOracle.s.sol", String(GETH_CHAIN_ID), "run-latest.json");
      const started = start("DeployWebOracle");
      const ended = started.then(
        () => "finished",
        () => "killed",
      );
      // The first transaction is in the pool, and forge waits for it.
      await expect
        .poll(() => existsSync(record) && /"hash": "0x/.test(readFileSync(record, "utf8")), { timeout: 120_000 })
        .toBe(true);
      started.child.kill("SIGTERM");
      expect(await ended).toBe("killed");
      expect(existsSync(deploymentFile)).toBe(false);
      if (moment === "before") rmSync(record);

      const output = await run("DeployWebOracle");
      expect(output).toContain("webOracleNumber exists already, so nothing was deployed");
      expect(await chain.client.getTransactionCount({ address: GETH_ACCOUNT })).toBe(3);
      const { datasets, webOracleRegistry } = deployment();
      expect(datasets.map(({ name }) => name).toSorted()).toEqual(["webOracleBytes", "webOracleNumber"]);
      for (const address of [...datasets.map((dataset) => dataset.address), webOracleRegistry as Address])
        expect(await chain.client.getCode({ address })).toMatch(/^0x60/);
      expect(readdirSync(folder)).not.toContain(`${GETH_CHAIN_ID}.intended.json`);
    },
  );

  test("list nothing of what forge intended and the chain did not mine", { timeout: 300_000 }, async () => {
    const chain = await startChain("dev", 1);
    const { folder, run, deploymentFile, dataset } = scriptsOn(chain);
    await run("DeployFinancialDataset");
    const address = dataset()?.address as Address;
    const { datasets } = JSON.parse(readFileSync(deploymentFile, "utf8"));
    rmSync(deploymentFile);
    // As a run leaves it that is killed before it sends anything, with a record of a transaction that is not known.
    const created = "0x00000000000000000000000000000000000000aa";
    const record = join(folder, "broadcast/Other.s.sol", String(GETH_CHAIN_ID));
    mkdirSync(record, { recursive: true });
    const transaction = { hash: `0x${"01".repeat(32)}`, contractAddress: created, additionalContracts: [] };
    writeFileSync(join(record, "run-latest.json"), JSON.stringify({ transactions: [transaction] }));
    const values = [datasets.financial, created, created].map((value) => JSON.stringify(value));
    const intended = {
      sender: GETH_ACCOUNT,
      paths: [".datasets.financial", ".verifiedLens", ".committeeDirectory"],
      values,
      created: [address, created, "0x00000000000000000000000000000000000000bb"],
    };
    writeFileSync(join(folder, `${GETH_CHAIN_ID}.intended.json`), JSON.stringify(intended));
    expect(await run("DeployFinancialDataset")).toContain("financial exists already, so nothing was deployed");
    expect(JSON.parse(readFileSync(deploymentFile, "utf8"))).toEqual({
      chainId: GETH_CHAIN_ID,
      datasets: { financial: datasets.financial },
    });
  });
});

describe.skipIf(!isGethCompiled())("the example for Foundry under the rules of Amsterdam", () => {
  test.each(AMSTERDAM_BLOCKS)(
    "buys a ticket with blocks of %i s, as its document says",
    { timeout: 300_000 },
    async (seconds) => {
      const chain = await startChain("amsterdam", seconds);
      const folder = join(mkdtempSync(join(tmpdir(), "example-")), "my-dapp");
      onTestFinished(() => rmSync(dirname(folder), { recursive: true, force: true }));
      await promisify(execFile)(process.execPath, [
        ...[join(ROOT, "tools/create-example-project.js"), "--copy", "foundry", folder],
      ]);
      const document = readFileSync(join(ROOT, "examples/README.md"), "utf8");
      const [, flags = ""] = /forge script script\/Buy\.s\.sol --rpc-url \S+ (.*) --unlocked/.exec(document) ?? [];
      expect(flags).toContain("--broadcast");
      const forge = (...args: string[]) =>
        promisify(execFile)(foundryBinary("forge"), args, {
          cwd: folder,
          env: { ...foundryEnv(), ORACLE: oracle, ANSWER: answer },
        });
      let [oracle, answer] = ["", ""];
      await forge("build");

      const accounts = [generatePrivateKey(), generatePrivateKey(), generatePrivateKey(), generatePrivateKey()]
        .map((key) => privateKeyToAccount(key))
        .toSorted((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1));
      const members = accounts.map(({ address }) => address);
      const dataset = await deployTestDataset(chain.url, { owner: GETH_ACCOUNT, members });
      oracle = dataset;
      // What an operator answers now: its reports are about this second, which the latest block has not reached.
      const round = BigInt(Math.floor(Date.now() / 1_000));
      const header = { chainId: GETH_CHAIN_ID, dataset, key: stringToHex("SPOTPX/ETH-USD"), round };
      const report = { outcome: "OK", value: numberToHex(parseEther("3000"), { size: 32 }) } as const;
      const reports = accounts.map(async (account) => {
        const signature = await signReport(account, { ...header, ...report });
        return { provider: account.address, value: report.value, signature };
      });
      const committee = { members, toleranceBps: 100n };
      const update = encodeUpdate("median", header, committee, "OK", await Promise.all(reports));
      answer = JSON.stringify({ update });
      const sender = ["--rpc-url", chain.url, ...flags.split(" "), "--unlocked", "--sender", GETH_ACCOUNT];
      const { stdout } = await forge("script", "script/Buy.s.sol", ...sender);
      const [, shop] = /Shop: (0x\w{40})/.exec(stdout) ?? [];
      expect(
        await chain.client.readContract({
          address: shop as Address,
          abi: parseAbi(["function ticketsOf(address) view returns (uint256)"]),
          functionName: "ticketsOf",
          args: [GETH_ACCOUNT],
        }),
      ).toBe(1n);
    },
  );
});

describe.skipIf(!isGethCompiled())("sharing the income under the rules of Amsterdam", () => {
  /** Stores its remaining gas in new slots, for as long as there is any. */
  const STORES = "0x5b5a80555f56";
  /** Deploys a contract of the largest size that it has the gas to return. */
  const CREATES = "0x646160005ff35f526005601b5ff05000";
  const BURNS = "0x5b5f56";

  test("pays accounts that do not exist, and no member burns more than its gas, whatever the limit", {
    timeout: 300_000,
  }, async () => {
    const chain = await startChain("amsterdam", 1);
    const hostile: Address[] = [];
    for (const code of [STORES, CREATES, BURNS] as const) hostile.push(await chain.deployCode(code));
    // Running the code of another account costs the caller a little more.
    hostile.push(await chain.delegate(await chain.deployCode(BURNS)));
    const used: bigint[] = [];
    for (const gas of [undefined, MAX_EXECUTION_GAS, 40_000_000n]) {
      const members = ascending([emptyAccount(), emptyAccount(), ...hostile, GETH_ACCOUNT]);
      const dataset = await deployTestDataset(chain.url, { owner: GETH_ACCOUNT, members });
      await chain.force(dataset, parseEther(String(members.length)));
      const call = { address: dataset, abi: datasetAbi, functionName: "shareIncome", args: [members, 100n] } as const;
      const hash = await chain.client.writeContract({ ...call, chain: null, ...(gas && { gas }) });
      const { status, gasUsed } = await chain.client.waitForTransactionReceipt({ hash });
      expect(status).toBe("success");
      used.push(gasUsed);
      for (const address of members) {
        const isHostile = hostile.some((account) => isAddressEqual(account, address));
        if (address === GETH_ACCOUNT) continue;
        const owed = await chain.client.readContract({
          address: dataset,
          abi: datasetAbi,
          functionName: "unpaidShares",
          args: [address],
        });
        expect([await chain.client.getBalance({ address }), owed]).toEqual(
          isHostile ? [0n, parseEther("1")] : [parseEther("1"), 0n],
        );
      }
    }
    // Two new accounts, four new slots, and what docs/Gas.md allows for seven payments: a reserve for state changes
    // nothing.
    const state = 2n * 183_600n + 4n * 97_920n;
    // Zeros in random addresses are cheaper calldata.
    for (const gasUsed of used) expect(Math.abs(Number(gasUsed - (used[0] as bigint)))).toBeLessThan(1_000);
    expect(used[0]).toBeLessThan(state + 45_000n + 7n * 41_000n);
  });
});
