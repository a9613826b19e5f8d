import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { GETH_ACCOUNT, GETH_CHAIN_ID, isGethCompiled, startGeth } from "@dataset-oracle/devnet/test-support/geth";
import { readVerified, spotPriceKey } from "@dataset-oracle/protocol";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { verifiedLensAbi } from "@dataset-oracle/protocol/abi/verified-lens";
import { loadDeployment } from "@dataset-oracle/service/config/deployment";
import { remoteSigner } from "@dataset-oracle/service/keys/remote-signer";
import { clockOf } from "@dataset-oracle/tools/clock-of";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { type Hash, parseTransaction, size, type TransactionSerializable, zeroAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, onTestFinished, test } from "vitest";
import { watchdog } from "../src/plugins/watchdog/plugin.js";
import { chainOf } from "./support/chain.js";
import { startOperator } from "./support/operator.js";
import { type StubProvider, startProviders } from "./support/stub-providers.js";

/**
 * What real deployments do and the smoke tests of all development chains leave out, on a real geth: `npm run geth`
 * compiles it.
 */

test.skipIf(!isGethCompiled())("a script deploys on geth with a private key, once", { timeout: 600_000 }, async () => {
  // forge may write only below deployments/.
  const folder = mkdtempSync(join(ROOT, "deployments", "test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const key = generatePrivateKey();
  const { address: deployer } = privateKeyToAccount(key);
  const chain = chainOf({ ...(await startGeth()), mode: "geth" }, GETH_CHAIN_ID);
  await chain.fund(deployer);
  const settings = JSON.parse(readFileSync(join(ROOT, "script/config/42.json"), "utf8"));
  const own = { owner: deployer, members: [deployer], queryPrice: "1000" };
  for (const name of ["financial", "webOracleNumber", "webOracleBytes"]) Object.assign(settings[name], own);
  writeFileSync(join(folder, "settings.json"), JSON.stringify({ ...settings, chainId: GETH_CHAIN_ID }));
  const env = {
    ...process.env,
    DEPLOY_CONFIG: join(folder, "settings.json"),
    DEPLOYMENTS_DIR: relative(ROOT, folder),
    FOUNDRY_BROADCAST: join(folder, "broadcast"),
  };
  const args = [
    ...["tools/foundry.js", "forge", "script"],
    "script/DeployFinancialDataset.s.sol",
    "--rpc-url",
    chain.url,
    "--private-key",
    key,
    "--broadcast",
  ];
  const run = () => promisify(execFile)(process.execPath, args, { cwd: ROOT, env, timeout: 280_000 });

  await run();
  const sent = await chain.nonce(deployer);
  expect(sent).toBeGreaterThan(0);
  await run();
  expect(await chain.nonce(deployer)).toBe(sent);
  for (const { address } of loadDeployment(join(folder, `${GETH_CHAIN_ID}.json`)).datasets) {
    expect(size((await chain.client.getCode({ address })) ?? "0x")).toBeGreaterThan(0);
  }
});

test.skipIf(!isGethCompiled())("geth signs as a signer, for its own chain only", async () => {
  const geth = await startGeth();
  onTestFinished(() => geth.close());
  const env = { OPERATOR_SIGNER_URL: geth.url, OPERATOR_SIGNER_ADDRESS: GETH_ACCOUNT };
  const [account] = (await remoteSigner("OPERATOR", "").load(env, new AbortController().signal)).accounts;
  const content = {
    chainId: GETH_CHAIN_ID,
    nonce: 7,
    to: GETH_ACCOUNT,
    data: "0x1234",
    gas: 50_000n,
    value: 0n,
  } as const;
  const transactions: TransactionSerializable[] = [
    { ...content, type: "eip1559", maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n },
    { ...content, type: "legacy", gasPrice: 3_000_000_000n },
  ];
  for (const transaction of transactions) {
    const signed = parseTransaction((await account?.signTransaction(transaction)) ?? "0x");
    expect(signed).toMatchObject({ chainId: GETH_CHAIN_ID, nonce: 7, gas: 50_000n, type: transaction.type });
    const elsewhere = { ...transaction, chainId: 42 } as TransactionSerializable;
    await expect(account?.signTransaction(elsewhere)).rejects.toThrow("chainId");
  }
});

// By itself geth keeps the transactions that its pool refuses for the time being, and says that it has accepted them.
test.skipIf(!isGethCompiled()).each(["", "--txpool.nolocals"])(
  "three updates at once of a sender with delegated code (EIP-7702) wait for each other, a block for each, with geth %s",
  { timeout: 300_000 },
  async (arg) => {
    const providers = await startProviders(3);
    const blockSeconds = process.env.MODE === "long" ? 12 : 3;
    const geth = await startGeth({ blockSeconds, args: arg === "" ? [] : [arg] });
    const chain = chainOf({ ...geth, mode: "geth" }, GETH_CHAIN_ID);
    const dataset = await chain.deploy(providers.map(({ address }) => address));
    const account = privateKeyToAccount(generatePrivateKey());
    await chain.fund(account.address);
    const { client } = chain;
    const delegation = await client.signAuthorization({ account, contractAddress: dataset, executor: "self" });
    await chain.wait(await client.sendTransaction({ account, to: zeroAddress, authorizationList: [delegation] }));
    const operator = await startOperator([{ chain, datasets: [dataset], providers }], { account });

    const ask = (key: string) =>
      operator.ask({ network_id: GETH_CHAIN_ID, dataset, key, broadcast: true }, { prefer: "wait=60" });
    const answers = await Promise.all(["SPOTPX/A-USD", "SPOTPX/B-USD", "SPOTPX/C-USD"].map(ask));
    const hashes = answers.map(({ transaction_hash }) => transaction_hash as Hash);
    for (const hash of hashes) await chain.wait(hash);
    const stored = await chain.updates(dataset);
    expect(stored.map(({ transactionHash }) => transactionHash).toSorted()).toEqual(hashes.toSorted());
    expect(new Set(stored.map(({ blockHash }) => blockHash)).size).toBe(3);
  },
);

test.skipIf(!isGethCompiled())(
  "under Amsterdam's rules a lens reads, and a member that contradicts itself is ejected",
  {
    timeout: 300_000,
  },
  async () => {
    const providers = await startProviders(5);
    const node = await startGeth({ rules: "amsterdam" });
    const chain = chainOf({ ...node, mode: "geth" }, GETH_CHAIN_ID);
    const dataset = await chain.deploy(providers.map(({ address }) => address));
    const deployedAt = (await chain.client.getBlock()).timestamp;
    // The clock stands still while both operators are asked for one round.
    let stopped: number | null = null;
    const clock = clockOf(() => stopped ?? Date.now());
    const start = (sender: "alone" | "volunteer") =>
      startOperator([{ chain, datasets: [dataset], providers, settings: { sender } }], {
        ...{ clock, plugins: ["gateway"] },
        configure: (app) => app.register(watchdog, { lookMs: 100 }),
      });
    const [one, two] = await Promise.all([start("alone"), start("volunteer")]);

    const gateways = [`${one.base}/gateway/${GETH_CHAIN_ID}/{sender}/{data}`];
    const lens = await chain.deployContract("VerifiedLens", verifiedLensAbi, [gateways]);
    const read = await readVerified(chain.client, { lens, dataset, key: spotPriceKey("ETH-USD"), maxAge: 60n });
    expect(read).toMatchObject({ status: "OK" });

    // A statement from before the committee was set proves nothing against it.
    await expect.poll(async () => (await chain.client.getBlock()).timestamp).toBeGreaterThan(deployedAt + 2n);
    const liar = providers[4] as StubProvider;
    const body = (key: string, broadcast: boolean) => ({ network_id: GETH_CHAIN_ID, dataset, key, broadcast });
    stopped = Date.now();
    await one.ask(body("SPOTPX/LIE-USD", false));
    liar.value += 1n;
    liar.decided.clear();
    await two.ask(body("SPOTPX/LIE-USD", true));
    stopped = null;
    const ejections = () =>
      chain.client.getContractEvents({
        ...{ address: dataset, abi: datasetAbi, eventName: "MemberEjected", fromBlock: 0n, strict: true },
      });
    await expect.poll(ejections).toMatchObject([{ args: { member: liar.address, accuser: one.account.address } }]);
    const answer = await one.ask(body("SPOTPX/ETH-USD", true), { prefer: "wait=20" });
    expect(answer).toMatchObject({ status: "OK" });
    expect(answer.reports.map(({ provider }) => provider)).not.toContain(liar.address);
  },
);
