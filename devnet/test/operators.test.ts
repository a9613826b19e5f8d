import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { committeeDirectoryAbi } from "@dataset-oracle/protocol/abi/committee-directory";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { type Address, createPublicClient, type Hash, http, keccak256, stringToHex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Devnet, freePortOptions, isRunning, killIfRunning, startDevnet } from "./devnet-process.js";
import { postDataRequest } from "./post-data-request.js";
import { settingsOf } from "./script-settings.js";

const KEYS = settingsOf(42).financial.keys;
/** Short, so that there are many rounds. */
const HEARTBEAT_SECONDS = 20;
/** How long after its heartbeat a feed is updated at the latest, whichever operator is dead. */
const LATE_SECONDS = 10;

let devnet: Devnet;
let ports: string[];
/** The operators that were started again. */
const restarted: ChildProcess[] = [];
/** What they have logged. The others log to files. */
let laterLog = "";

beforeAll(async () => {
  ports = await freePortOptions();
  devnet = await startDevnet([...ports, "--operators", "4", "--heartbeat", String(HEARTBEAT_SECONDS)]);
}, 130_000);

afterAll(async () => {
  await Promise.all(restarted.map((child) => end(child, "SIGTERM")));
  await devnet?.interrupt();
});

const chain = () => createPublicClient({ transport: http(devnet.chain), pollingInterval: 200 });

interface Update {
  readonly keyHash: Hash;
  readonly round: number;
  readonly block: bigint;
}

/** Returns all updates of the financial dataset up to the newest block, and the time of that block. */
async function look(): Promise<{ readonly updates: readonly Update[]; readonly now: number }> {
  const latest = await chain().getBlock();
  const logs = await chain().getContractEvents({
    ...{ address: devnet.dataset, abi: datasetAbi, eventName: "Updated", fromBlock: 0n, toBlock: latest.number },
    strict: true,
  });
  const updates = logs.map(({ args, blockNumber }) => {
    return { keyHash: args.keyHash, round: Number(args.timestamp), block: blockNumber };
  });
  return { updates, now: Number(latest.timestamp) };
}

/** How often operators have sent updates because those of better ranks did not. */
function failovers(): number {
  const logs = devnet.operators.map((_, index) =>
    readFileSync(join(ROOT, ".devnet", ports[1] ?? "", "logs", `operator-${index + 1}.log`), "utf8"),
  );
  return [...logs, laterLog].join("").split("the members of better ranks did not update these keys").length - 1;
}

/** Starts an operator again with the command that the devnet printed. */
async function startAgain({ url, command }: Devnet["operator"]): Promise<void> {
  const child = spawn("sh", ["-c", `exec env ${command}`], { cwd: ROOT, stdio: ["ignore", "pipe", "ignore"] });
  child.stdout.on("data", (chunk: Buffer) => {
    laterLog += chunk.toString();
  });
  restarted.push(child);
  const isReady = () =>
    fetch(`${url}/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  await expect.poll(isReady, { timeout: 60_000, interval: 200 }).toBe(true);
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
    const sent = await chain()
      .getTransaction({ hash })
      .catch(() => null);
    if (sent !== null) expect(sent.from.toLowerCase()).toBe(address.toLowerCase());
  }
});

test("each provider has announced its URL in the directory", async () => {
  const deployment = join(ROOT, ".devnet", ports[1] ?? "", "deployments", "42.json");
  const { committeeDirectory } = JSON.parse(readFileSync(deployment, "utf8")) as { committeeDirectory: Address };
  const providers = devnet.providers.map(({ address }) => address);
  const announced = await Promise.all(
    providers.map((provider) =>
      chain().readContract({
        ...{
          address: committeeDirectory,
          abi: committeeDirectoryAbi,
          functionName: "announcementOf",
          args: [provider],
        },
      }),
    ),
  );
  expect(announced.map(([url]) => url)).toEqual(devnet.providers.map(({ url }) => url));
});

test("whichever operator is killed, no feed grows older than its heartbeat and ten seconds", async () => {
  const hashes = KEYS.map((key) => keccak256(stringToHex(key)));
  const updatedAfter = async (time: number) => {
    const { updates } = await look();
    return hashes.filter((hash) => !updates.some(({ keyHash, round }) => keyHash === hash && round > time));
  };
  await expect.poll(() => updatedAfter(0), { timeout: 120_000 }).toEqual([]);
  const start = await look();

  for (const operator of devnet.operators) {
    const before = failovers();
    killIfRunning(operator.pid, "SIGKILL");
    await expect.poll(() => isRunning(operator.pid)).toBe(false);
    const killedAt = (await look()).now;
    // It has the best rank for a part of the rounds only.
    await expect.poll(failovers, { timeout: 180_000, interval: 500 }).toBeGreaterThan(before);
    await expect.poll(() => updatedAfter(killedAt), { timeout: 60_000, interval: 500 }).toEqual([]);
    await startAgain(operator);
  }

  const { updates, now } = await look();
  const minedAt = new Map(
    await Promise.all(
      [...new Set(updates.map(({ block }) => block))].map(async (blockNumber) => {
        return [blockNumber, Number((await chain().getBlock({ blockNumber })).timestamp)] as const;
      }),
    ),
  );
  const ages = hashes.flatMap((hash) => {
    const ofKey = updates.filter(({ keyHash }) => keyHash === hash);
    return ofKey.flatMap(({ round }, i) => {
      const next = ofKey[i + 1];
      const until = next === undefined ? now : (minedAt.get(next.block) ?? 0);
      return until > start.now ? [until - round] : [];
    });
  });
  expect(Math.max(...ages)).toBeLessThanOrEqual(HEARTBEAT_SECONDS + LATE_SECONDS);
}, 1_200_000);

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill(signal);
  await exited;
}
