import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { GETH_CHAIN_ID, isGethCompiled, startGeth } from "@dataset-oracle/devnet/geth";
import type { DataAnswer } from "@dataset-oracle/protocol/http-schemas/data-request";
import { loadDeployment } from "@dataset-oracle/service/config/deployment";
import { foundryBinary, foundryEnv } from "@dataset-oracle/tools/foundry";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { type Address, size } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OperatorProcess } from "./chaos/operator-process.js";
import { type Chain, chainOf } from "./support/chain.js";
import { type Provider, startProviders } from "./support/stub-providers.js";

/** `npm run geth` compiles it. */

const DEPLOYER = generatePrivateKey();
const SENDER = generatePrivateKey();

let chain: Chain;
let providers: Provider[];
let folder: string;
let deploymentFile: string;

/** Runs a script as its documentation does, with a private key instead of a keystore. */
async function runScript(name: string): Promise<void> {
  const key = ["--private-key", DEPLOYER, "--broadcast"];
  const env = {
    ...foundryEnv(),
    DEPLOY_CONFIG: join(folder, "settings.json"),
    DEPLOYMENTS_DIR: relative(ROOT, folder),
    FOUNDRY_BROADCAST: join(folder, "broadcast"),
    GATEWAYS: `https://operator.example/data/gateway/${GETH_CHAIN_ID}/{sender}/{data}`,
  };
  const args = ["script", `script/${name}.s.sol`, "--rpc-url", chain.url, ...key];
  await promisify(execFile)(foundryBinary("forge"), args, { cwd: ROOT, env, timeout: 110_000 });
}

function writeSettings(): void {
  const settings = JSON.parse(readFileSync(join(ROOT, "script/config/42.json"), "utf8"));
  const members = providers.map(({ address }) => address);
  const own = { owner: privateKeyToAccount(DEPLOYER).address, members, queryPrice: "1000" };
  for (const name of ["financial", "webOracleNumber", "webOracleBytes"]) Object.assign(settings[name], own);
  writeFileSync(join(folder, "settings.json"), JSON.stringify({ ...settings, chainId: GETH_CHAIN_ID }));
}

describe.skipIf(!isGethCompiled())("on geth", () => {
  beforeAll(async () => {
    // forge may write only below deployments/.
    folder = mkdtempSync(join(ROOT, "deployments", "test-"));
    deploymentFile = join(folder, `${GETH_CHAIN_ID}.json`);
    providers = await startProviders(4);
    chain = chainOf({ ...(await startGeth()), mode: "geth" }, GETH_CHAIN_ID);
    for (const key of [DEPLOYER, SENDER]) await chain.fund(privateKeyToAccount(key).address);
    writeSettings();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each(["DeployFinancialDataset", "DeployWebOracle", "DeployCommitteeDirectory", "DeployVerifiedLens"])(
    "%s deploys with a private key, once",
    async (name) => {
      const nonce = () => chain.nonce(privateKeyToAccount(DEPLOYER).address);
      const before = await nonce();
      await runScript(name);
      const sent = await nonce();
      expect(sent).toBeGreaterThan(before);
      await runScript(name);
      expect(await nonce()).toBe(sent);
      for (const address of deployed())
        expect(size((await chain.client.getCode({ address })) ?? "0x")).toBeGreaterThan(0);
    },
  );

  test("an operator that is killed with ten broadcasts pending, and geth that restarts, lose none and repeat none", async () => {
    const financial = loadDeployment(deploymentFile).datasets.find(({ name }) => name === "financial");
    const dataset = financial?.address as Address;
    const port = await freePort();
    const operator = new OperatorProcess(writeOperatorConfig(port), port, SENDER);
    const ask = async (key: string): Promise<DataAnswer> => {
      const response = await fetch(`${operator.url}/data/request`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ network_id: GETH_CHAIN_ID, dataset, key, broadcast: true }),
      });
      const answer = (await response.json()) as DataAnswer;
      expect([response.status, answer]).toEqual([
        200,
        expect.objectContaining({ transaction_hash: expect.any(String) }),
      ]);
      return answer;
    };
    const keys = Array.from({ length: 10 }, (_, index) => `SPOTPX/K${index}-USD`);
    try {
      await operator.start();
      await chain.pauseMining();
      const answers = await Promise.all(keys.map(ask));
      await operator.end("SIGKILL");
      await operator.start();
      answers.push(await ask("SPOTPX/LAST-USD"));
      await chain.resumeMining();
      for (const { key, timestamp } of answers) {
        await expect
          .poll(async () => (await chain.query(dataset, key ?? "")).updatedAt, { timeout: 60_000 })
          .toBeGreaterThanOrEqual(BigInt(timestamp));
      }
      const address = privateKeyToAccount(SENDER).address;
      expect(await chain.client.getTransactionCount({ address })).toBe(answers.length);
    } finally {
      await operator.end("SIGKILL");
    }
  });
});

/** Returns the address of every contract in the deployment file. */
function deployed(): Address[] {
  const { chainId: _, datasets, ...contracts } = loadDeployment(deploymentFile);
  return [...datasets.map(({ address }) => address), ...Object.values(contracts)];
}

function writeOperatorConfig(port: number): string {
  const network = {
    deployment: deploymentFile,
    rpcUrls: [chain.url],
    providers: providers.map(({ address, url }) => ({ address, url })),
    gasPercentPerCaller: 100,
  };
  const path = join(folder, "operator.json");
  writeFileSync(path, JSON.stringify({ port, networks: [network] }));
  return path;
}
