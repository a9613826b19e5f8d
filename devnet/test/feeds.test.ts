import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { deriveAccount, OWNER } from "@dataset-oracle/devnet/accounts";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { type ServiceProcess, startService } from "@dataset-oracle/devnet/service-process";
import { committeeDirectoryAbi } from "@dataset-oracle/protocol/abi/committee-directory";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { loadDeployment } from "@dataset-oracle/service/config/deployment";
import { foundryBinary, foundryEnv } from "@dataset-oracle/tools/foundry";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { type Address, type Hash, keccak256, stringToHex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Devnet, freePortOptions, isRunning, killIfRunning, START_MS, startDevnet } from "./devnet-process.js";
import { connect } from "./one-devnet.js";
import { postDataRequest } from "./post-data-request.js";
import { settingsOf } from "./script-settings.js";

const SETTINGS = settingsOf(42);
const KEYS = SETTINGS.financial.keys;
const HASHES = KEYS.map((key) => keccak256(stringToHex(key)));
/** Short, so that there are many rounds. */
const HEARTBEAT_SECONDS = 20;

let devnet: Devnet;
let chain: ReturnType<typeof connect>;
let newcomer: ServiceProcess | undefined;

beforeAll(async () => {
  devnet = await startDevnet([...(await freePortOptions()), "--operators", "4", "--heartbeat", `${HEARTBEAT_SECONDS}`]);
  chain = connect(devnet.chain);
}, START_MS);

afterAll(async () => {
  await newcomer?.close();
  await devnet?.interrupt();
});

const deploymentFile = () => join(ROOT, devnet.folder, "deployments", "42.json");

/** Returns all updates of the financial dataset so far, with the time of their blocks. */
async function updates() {
  const event = { address: devnet.dataset, abi: datasetAbi, eventName: "Updated" } as const;
  const logs = await chain.getContractEvents({ ...event, fromBlock: 0n, strict: true });
  return logs.map(({ args: { keyHash, timestamp, status }, blockNumber, transactionHash }) => {
    return { keyHash, round: Number(timestamp), status, block: blockNumber, transaction: transactionHash };
  });
}

/** Waits until every feed has an update of a round after a time. */
async function untilAllAreUpdatedAfter(time: number): Promise<void> {
  const missing = async () => {
    const seen = await updates();
    return HASHES.filter((hash) => !seen.some(({ keyHash, round }) => keyHash === hash && round > time));
  };
  await expect.poll(missing, { timeout: 100_000, interval: 500 }).toEqual([]);
}

const now = async () => Number((await chain.getBlock()).timestamp);

async function end({ pid }: { readonly pid: number }): Promise<void> {
  killIfRunning(pid, "SIGKILL");
  await expect.poll(() => isRunning(pid)).toBe(false);
}

test("each operator has a URL, a process and an account of its own, and answers requests", async () => {
  expect(devnet.operators).toHaveLength(4);
  expect(new Set(devnet.operators.map(({ address }) => address)).size).toBe(4);
  expect(devnet.operator).toEqual(devnet.operators[0]);
  for (const operator of devnet.operators) {
    const { url, address, pid } = operator;
    expect(isRunning(pid)).toBe(true);
    expect(devnet.output()).toMatch(new RegExp(`operator-\\d +${url} +sends from ${address} +pid ${pid}\n`));
    const request = { network_id: 42, dataset: devnet.dataset, key: KEYS[0] ?? "", broadcast: true };
    const { status, answer } = await postDataRequest({ ...devnet, operator }, request);
    expect({ status, answer }).toMatchObject({ status: 200, answer: { transaction_hash: expect.any(String) } });
    const hash = answer.transaction_hash as Hash;
    // A newer update replaces it, or another operator's is mined first.
    const sent = await chain.getTransaction({ hash }).catch(() => null);
    if (sent !== null) expect(sent.from.toLowerCase()).toBe(address.toLowerCase());
  }
});

const announcedUrl = async (provider: Address) => {
  const address = loadDeployment(deploymentFile()).committeeDirectory ?? "0x";
  const [url] = await chain.readContract({
    ...{ address, abi: committeeDirectoryAbi, functionName: "announcementOf", args: [provider] },
  });
  return url;
};

test("each provider has announced its URL in the directory", async () => {
  const announced = await Promise.all(devnet.providers.map(({ address }) => announcedUrl(address)));
  expect(announced).toEqual(devnet.providers.map(({ url }) => url));
});

/** Starts a provider with a key of its own and the configuration of another one, and announces where it answers. */
async function startNewcomer(): Promise<Address> {
  const { address, privateKey } = deriveAccount(14);
  const folder = (name: string) => join(ROOT, devnet.folder, name);
  const file = (name: string) => join(folder("state"), name);
  const like = JSON.parse(readFileSync(join(folder("config"), "provider-4.json"), "utf8"));
  const config = {
    ...like,
    port: await freePort(),
    lease: file("newcomer"),
    webOracle: { ...like.webOracle, folder: file("newcomer-specs") },
    evidence: { ...like.evidence, folder: file("newcomer-evidence") },
  };
  const folders = { config: folder("config"), keys: folder("keys"), logs: folder("logs") };
  newcomer = await startService({
    ...{ program: "provider", name: "newcomer", config, privateKeys: [privateKey], folder: folders },
  });
  await newcomer.ready();
  const announce = ["announce", "--url", newcomer.url, "--from", deriveAccount(8).address, "--allow-local"];
  const network = ["--deployment", deploymentFile(), "--rpc-url", devnet.chain];
  await promisify(execFile)(process.execPath, [join(ROOT, "provider/dist/main.js"), ...announce, ...network], {
    env: { ...process.env, PROVIDER_PRIVATE_KEY_FILE: join(folders.keys, "newcomer.key") },
  });
  expect(await announcedUrl(address)).toBe(newcomer.url);
  return address;
}

/** Runs the script that replaces the committee, as its owner does. */
async function rotate(members: readonly Address[]): Promise<void> {
  const settingsFile = join(ROOT, devnet.folder, "settings.json");
  writeFileSync(settingsFile, JSON.stringify({ ...SETTINGS, financial: { ...SETTINGS.financial, members } }));
  const args = ["script", "script/RotateCommittee.s.sol", "--rpc-url", devnet.chain, "--broadcast"];
  await promisify(execFile)(foundryBinary("forge"), [...args, "--unlocked", "--sender", OWNER.address], {
    cwd: ROOT,
    env: {
      ...foundryEnv(),
      DATASET: "financial",
      DEPLOY_CONFIG: settingsFile,
      DEPLOYMENTS_DIR: join(devnet.folder, "deployments"),
      FOUNDRY_BROADCAST: join(ROOT, devnet.folder, "broadcast"),
    },
  });
}

test("feeds go on while half of the operators are killed and a member of the committee is replaced", async () => {
  await untilAllAreUpdatedAfter(0);
  const start = await now();
  await Promise.all(devnet.operators.slice(0, 2).map(end));

  const [leaving, ...staying] = devnet.providers.map(({ address }) => address);
  const joining = await startNewcomer();
  const members = [...staying, joining].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
  await rotate(members);
  const written = loadDeployment(deploymentFile()).datasets.find(({ name }) => name === "financial");
  expect(written?.committee?.members).toEqual(members);
  // Without another one of the old members, there is no quorum without the new one.
  await Promise.all(devnet.providers.filter(({ address }) => [leaving, staying[0]].includes(address)).map(end));
  await untilAllAreUpdatedAfter(await now());

  const all = await updates();
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set([1]));
  const blocks = [...new Set(all.map(({ block }) => block))];
  const times = await Promise.all(blocks.map((blockNumber) => chain.getBlock({ blockNumber })));
  const minedAt = new Map(times.map(({ number, timestamp }) => [number, Number(timestamp)]));
  for (const hash of HASHES) {
    const ofKey = all.filter(({ keyHash }) => keyHash === hash);
    const ages = ofKey.slice(1).map(({ block }, i) => [minedAt.get(block) ?? 0, ofKey[i]?.round ?? 0] as const);
    // Nobody misses a heartbeat twice in a row.
    for (const [mined, round] of ages) if (mined > start) expect(mined - round).toBeLessThan(2 * HEARTBEAT_SECONDS);
  }
  const sizes = all.map((one) => all.filter(({ transaction }) => transaction === one.transaction).length);
  expect(Math.max(...sizes)).toBeGreaterThanOrEqual(5);
}, 300_000);
