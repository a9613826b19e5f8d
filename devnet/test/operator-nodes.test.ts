import { readFileSync } from "node:fs";
import { join } from "node:path";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { createPublicClient, type Hash, http } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Devnet, freePortOptions, isRunning, killIfRunning, startDevnet } from "./devnet-process.js";
import { settingsOf } from "./script-settings.js";

const KEYS = settingsOf(42).financial.keys;
/** Short, so that there are many rounds. */
const HEARTBEAT_SECONDS = 12;
/** The limit is generous, because this machine may be busy; bench/network measures how late feeds are. */
const MAX_AGE_SECONDS = 60;

let devnet: Devnet;
let ports: string[];

beforeAll(async () => {
  ports = await freePortOptions();
  devnet = await startDevnet([...ports, "--nodes", "4", "--heartbeat", String(HEARTBEAT_SECONDS)]);
}, 130_000);

afterAll(() => devnet?.interrupt());

const chain = () => createPublicClient({ transport: http(devnet.chain), pollingInterval: 200 });

interface Update {
  readonly keyHash: Hash;
  readonly round: bigint;
  readonly hash: Hash;
  readonly block: bigint;
}

async function updates(toBlock: bigint): Promise<readonly Update[]> {
  const logs = await chain().getContractEvents({
    ...{ address: devnet.dataset, abi: datasetAbi, eventName: "Updated", fromBlock: 0n, toBlock, strict: true },
  });
  return logs.map(({ args, transactionHash, blockNumber }) => ({
    ...{ keyHash: args.keyHash, round: args.timestamp, hash: transactionHash, block: blockNumber },
  }));
}

/** Returns the updates at the newest block, and how many transactions the nodes have had mined by then. */
async function look() {
  const blockNumber = await chain().getBlockNumber({ cacheTime: 0 });
  const counts = devnet.nodes.map(({ address }) => chain().getTransactionCount({ address, blockNumber }));
  const [all, sent] = await Promise.all([updates(blockNumber), Promise.all(counts)]);
  return { blockNumber, all, sent: sent.reduce((a, b) => a + b) };
}

/** How often the nodes have sent updates because those of better ranks did not. */
const failovers = () =>
  devnet.nodes
    .map((_, index) => readFileSync(join(ROOT, ".devnet", ports[1] ?? "", "logs", `node-${index + 1}.log`), "utf8"))
    .reduce((sum, log) => sum + log.split("the nodes of better ranks did not update these keys").length - 1, 0);

test("each node has a URL, a process and an account of its own, and serves what an operator does", async () => {
  expect(devnet.nodes.map(({ pid }) => isRunning(pid))).toEqual([true, true, true, true]);
  expect(new Set(devnet.nodes.map(({ address }) => address)).size).toBe(4);
  for (const { url, pid } of devnet.nodes) {
    expect(devnet.output()).toMatch(new RegExp(`node-\\d +${url} .* pid ${pid}\n`));
    for (const path of ["/", "/guide/", "/datasets"]) expect((await fetch(url + path)).status).toBe(200);
  }
  expect(devnet.operator).toEqual(devnet.nodes[0]);
});

test("each round is sent once, and while a node is dead the next in rank sends its rounds", async () => {
  await expect
    .poll(async () => new Set((await look()).all.map(({ keyHash }) => keyHash)).size, { timeout: 60_000 })
    .toBe(KEYS.length);
  const start = await look();
  const before = failovers();
  const { pid } = devnet.nodes[2] as Devnet["nodes"][number];
  killIfRunning(pid, "SIGKILL");
  // The dead node leads a round in four, so this takes a few rounds.
  await expect.poll(failovers, { timeout: 300_000, interval: 500 }).toBeGreaterThan(before);
  await new Promise((resolve) => setTimeout(resolve, 3_000));

  const { all, sent } = await look();
  const later = all.filter(({ block }) => block > start.blockNumber);
  const hashes = new Set(later.map(({ hash }) => hash));
  expect(sent - start.sent).toBe(hashes.size);
  // A key whose price has moved by the deviation threshold has a transaction of its own.
  const batched = later.filter(({ hash, keyHash }) => later.some((u) => u.hash === hash && u.keyHash !== keyHash));
  const batches = new Set(batched.map(({ hash }) => hash));
  expect(batches.size).toBeGreaterThan(0);
  expect(new Set(batched.map(({ round }) => round)).size).toBe(batches.size);
  const mined = await Promise.all(
    [...new Set(later.map(({ block }) => block))].map((number) => chain().getBlock({ blockNumber: number })),
  );
  for (const { keyHash, round, block } of later) {
    const previous = all.findLast((update) => update.keyHash === keyHash && update.round < round);
    const minedAt = mined.find(({ number }) => number === block)?.timestamp ?? 0n;
    const age = Number(minedAt - (previous?.round ?? 0n));
    expect(age).toBeLessThanOrEqual(MAX_AGE_SECONDS);
  }
}, 390_000);
