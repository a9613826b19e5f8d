import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { type Anvil, startAnvil } from "@dataset-oracle/devnet/anvil";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { loadDeployment } from "@dataset-oracle/service/deployment";
import { foundryBinary, foundryEnv, ROOT } from "@dataset-oracle/tools/foundry";
import { createPublicClient, http, stringToHex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const OWNER = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const MEMBERS = ["0x0000000000000000000000000000000000000011", "0x0000000000000000000000000000000000000022"];

/** One committed example for each of them. */
const NETWORKS = [42, 11_155_111];

// forge may write only there.
const folder = mkdtempSync(join(ROOT, "deployments", "test-"));
const chains = new Map<number, Anvil>();

beforeAll(async () => {
  for (const chainId of NETWORKS) chains.set(chainId, await startAnvil({ chainId }));
});

afterAll(async () => {
  await Promise.all([...chains.values()].map((chain) => chain.close()));
  rmSync(folder, { recursive: true });
});

const settingsOf = (chainId: number) => JSON.parse(readFileSync(join(ROOT, `script/config/${chainId}.json`), "utf8"));

/** Settings as a team would fill the committed example in. */
function fillIn(chainId: number): string {
  const settings = settingsOf(chainId);
  Object.assign(settings.financial, { owner: OWNER, members: MEMBERS });
  const path = join(folder, `settings-${chainId}.json`);
  writeFileSync(path, JSON.stringify(settings));
  return path;
}

async function deploy(connectedTo: number, env: Record<string, string>, ...more: string[]) {
  const url = chains.get(connectedTo)?.url ?? "";
  const args = ["script", "script/DeployFinancialDataset.s.sol", "--rpc-url", url, "--unlocked", "--sender", OWNER];
  const options = {
    cwd: ROOT,
    env: {
      ...foundryEnv(),
      DEPLOYMENTS_DIR: relative(ROOT, folder),
      FOUNDRY_BROADCAST: join(folder, "broadcast"),
      ...env,
    },
    maxBuffer: 64 * 1024 * 1024,
  };
  const run = promisify(execFile)(foundryBinary("forge"), [...args, ...more], options);
  const { stdout, stderr, exitCode } = await run.then(
    (output) => ({ ...output, exitCode: 0 }),
    (error) => ({ stdout: error.stdout as string, stderr: error.stderr as string, exitCode: error.code as number }),
  );
  return { exitCode, output: stdout + stderr };
}

describe.each(NETWORKS)("the deployment to network %i", (chainId) => {
  const file = join(folder, `${chainId}.json`);
  const env = { DEPLOY_CONFIG: "" };
  beforeAll(() => {
    env.DEPLOY_CONFIG = fillIn(chainId);
  });

  test("as a dry run sends and writes nothing", async () => {
    const { exitCode, output } = await deploy(chainId, env);
    expect(output).toContain("A dry run: nothing was sent, and nothing written.");
    expect(exitCode).toBe(0);
    expect(existsSync(file)).toBe(false);
    const client = createPublicClient({ transport: http(chains.get(chainId)?.url) });
    expect(await client.getTransactionCount({ address: OWNER })).toBe(0);
  });

  test("makes the dataset of its settings, and the file that operators and providers read", async () => {
    expect(await deploy(chainId, env, "--broadcast")).toMatchObject({ exitCode: 0 });
    const { financial } = settingsOf(chainId);
    const deployment = loadDeployment(file);
    expect(deployment).toMatchObject({
      chainId,
      datasets: [
        {
          name: "financial",
          kind: "median",
          keyForm: "SPOT_PRICE",
          keys: financial.keys.map((key: string) => stringToHex(key)),
        },
      ],
    });
    const client = createPublicClient({ transport: http(chains.get(chainId)?.url) });
    const address = deployment.datasets[0]?.address ?? "0x";
    const read = <T extends "owner" | "queryPrice" | "priceCeiling" | "maxRoundAge" | "committeeBlock">(
      functionName: T,
    ) => client.readContract({ address, abi: datasetAbi, functionName });
    expect(await read("owner")).toBe(OWNER);
    expect(await read("queryPrice")).toBe(BigInt(financial.queryPrice));
    expect(await read("priceCeiling")).toBe(BigInt(financial.priceCeiling));
    expect(await read("maxRoundAge")).toBe(BigInt(financial.maxRoundAge));
    const [change] = await client.getContractEvents({
      address,
      abi: datasetAbi,
      eventName: "CommitteeChanged",
      fromBlock: (await read("committeeBlock")) as bigint,
    });
    expect(change?.args).toEqual({ members: MEMBERS, toleranceBps: BigInt(financial.toleranceBps) });
  });

  test("a second time deploys nothing", async () => {
    const before = readFileSync(file, "utf8");
    const { exitCode, output } = await deploy(chainId, env, "--broadcast");
    expect(output).toContain("The financial dataset is there already, nothing was deployed");
    expect(exitCode).toBe(0);
    expect(readFileSync(file, "utf8")).toBe(before);
    const client = createPublicClient({ transport: http(chains.get(chainId)?.url) });
    expect(await client.getTransactionCount({ address: OWNER })).toBe(1);
  });
});

test("the settings of one network are refused on another", async () => {
  const { exitCode, output } = await deploy(42, { DEPLOY_CONFIG: fillIn(11_155_111) }, "--broadcast");
  expect(exitCode).not.toBe(0);
  expect(output).toMatch(/WrongChain\(11155111 .*, 42\)/);
});

test("the committed example for Sepolia is refused until somebody fills the owner in", async () => {
  const { exitCode, output } = await deploy(
    11_155_111,
    { DEPLOY_CONFIG: "script/config/11155111.json" },
    "--broadcast",
  );
  expect(exitCode).not.toBe(0);
  expect(output).toContain('OwnerMissing("script/config/11155111.json")');
});
