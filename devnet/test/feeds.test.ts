import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { deriveAccount, OWNER } from "@dataset-oracle/devnet/accounts";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { type ServiceProcess, startService } from "@dataset-oracle/devnet/service-process";
import { clientOf, type TestChainClient } from "@dataset-oracle/devnet/test-support/chain-client";
import { committeeDirectoryAbi } from "@dataset-oracle/protocol/abi/committee-directory";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { loadDeployment } from "@dataset-oracle/service/config/deployment";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { type Address, keccak256, stringToHex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Devnet, freePortOptions, isRunning, START_MS, startDevnet } from "./devnet-process.js";

const KEYS: readonly string[] = JSON.parse(readFileSync(join(ROOT, "script/config/42.json"), "utf8")).financial.keys;
const HASHES = KEYS.map((key) => keccak256(stringToHex(key)));
/** Short, so that there are many rounds. */
const HEARTBEAT_SECONDS = 20;

let devnet: Devnet;
let chain: TestChainClient;
let newcomer: ServiceProcess | undefined;

beforeAll(async () => {
  devnet = await startDevnet([...(await freePortOptions()), "--operators", "2", "--heartbeat", `${HEARTBEAT_SECONDS}`]);
  chain = clientOf(devnet.chain);
}, START_MS);

afterAll(async () => {
  await newcomer?.close();
  await devnet?.interrupt();
});

const deploymentFile = () => join(ROOT, devnet.folder, "deployments", "42.json");

/** Returns all updates of the financial dataset so far. */
async function updates() {
  const event = { address: devnet.dataset, abi: datasetAbi, eventName: "Updated" } as const;
  const logs = await chain.getContractEvents({ ...event, fromBlock: 0n, strict: true });
  return logs.map(({ args: { keyHash, timestamp, status }, transactionHash }) => {
    return { keyHash, round: Number(timestamp), status, transaction: transactionHash };
  });
}

/** Waits until every feed has an update of a round after a time. */
async function untilAllAreUpdatedAfter(time: number): Promise<void> {
  const missing = async () => {
    const seen = await updates();
    return HASHES.filter((hash) => !seen.some(({ keyHash, round }) => keyHash === hash && round > time));
  };
  await expect.poll(missing, { timeout: 200_000, interval: 500 }).toEqual([]);
}

const now = async () => Number((await chain.getBlock()).timestamp);

async function end({ pid }: { readonly pid: number }): Promise<void> {
  process.kill(pid, "SIGKILL");
  await expect.poll(() => isRunning(pid)).toBe(false);
}

async function announcedUrl(provider: Address): Promise<string> {
  const address = loadDeployment(deploymentFile()).committeeDirectory ?? "0x";
  const directory = { address, abi: committeeDirectoryAbi, functionName: "announcementOf", args: [provider] } as const;
  return (await chain.readContract(directory))[0];
}

test("each operator has an account of its own, and each provider has announced its URL", async () => {
  expect(new Set(devnet.operators.map(({ address }) => address)).size).toBe(2);
  for (const { address, url } of devnet.providers) expect(await announcedUrl(address)).toBe(url);
});

/** Starts a provider with a key of its own and the configuration of another one, and announces where it answers. */
async function startNewcomer(): Promise<Address> {
  const { address, privateKey } = deriveAccount(14);
  const folder = (name: string) => join(ROOT, devnet.folder, name);
  const like = JSON.parse(readFileSync(join(folder("config"), "provider-4.json"), "utf8"));
  const webOracle = { ...like.webOracle, folder: join(folder("state"), "newcomer-specs") };
  const own = { port: await freePort(), lease: join(folder("state"), "newcomer"), webOracle, evidence: undefined };
  const config = { ...like, ...own };
  const folders = { config: folder("config"), keys: folder("keys"), logs: folder("logs") };
  const options = { program: "provider", name: "newcomer", config, privateKeys: [privateKey] } as const;
  newcomer = await startService({ ...options, folder: folders });
  await newcomer.ready();
  const announce = ["announce", "--url", newcomer.url, "--from", deriveAccount(8).address, "--allow-local"];
  const network = ["--deployment", deploymentFile(), "--rpc-url", devnet.chain];
  await promisify(execFile)(process.execPath, [join(ROOT, "provider/dist/main.js"), ...announce, ...network], {
    env: { ...process.env, PROVIDER_PRIVATE_KEY_FILE: join(folders.keys, "newcomer.key") },
  });
  expect(await announcedUrl(address)).toBe(newcomer.url);
  return address;
}

test("feeds go on while an operator of two is killed and a member of the committee is replaced", async () => {
  await untilAllAreUpdatedAfter(0);
  await end(devnet.operator);

  const [leaving, ...staying] = devnet.providers.map(({ address }) => address);
  const joining = await startNewcomer();
  const members = [...staying, joining].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
  const account = OWNER.address;
  const call = {
    address: devnet.dataset,
    abi: datasetAbi,
    functionName: "setCommittee",
    args: [members, 100n],
  } as const;
  const hash = await chain.writeContract({ ...call, account });
  expect((await chain.waitForTransactionReceipt({ hash })).status).toBe("success");
  // Without another one of the old members, there is no quorum without the new one.
  await Promise.all(devnet.providers.filter(({ address }) => [leaving, staying[0]].includes(address)).map(end));
  await untilAllAreUpdatedAfter(await now());

  const all = await updates();
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set([1]));
  const sizes = all.map((one) => all.filter(({ transaction }) => transaction === one.transaction).length);
  expect(Math.max(...sizes)).toBeGreaterThanOrEqual(5);
}, 480_000);
